package io.vgpu.control.scheduler.topology;

import io.vgpu.model.PlacementPolicy;
import java.util.List;

/** Which of two groups of cards is taken first, by the device policy (control-plane.md 3.11). */
public enum GroupOrder {
  FULLEST,
  EMPTIEST,
  ALIKE;

  /** Of a device policy. */
  public static GroupOrder of(PlacementPolicy policy) {
    return switch (policy) {
      case BINPACK -> FULLEST;
      case SPREAD -> EMPTIEST;
      // they judge cards one by one, by what is left for others: of a group that says nothing
      case FGD, FORESIGHT, NONE -> ALIKE;
    };
  }

  /** Higher is taken first. */
  double score(List<Item> group) {
    double free = group.stream().mapToDouble(Item::free).average().orElse(0);
    return switch (this) {
      case FULLEST -> 100 - free;
      case EMPTIEST -> free;
      case ALIKE -> 0;
    };
  }

  /** Whether the order tells these two cards apart. */
  boolean apart(Item a, Item b) {
    return this != ALIKE && Double.compare(a.free(), b.free()) != 0;
  }
}
