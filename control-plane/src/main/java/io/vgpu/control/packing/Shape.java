package io.vgpu.control.packing;

import static io.vgpu.model.Checks.check;

import io.vgpu.control.cluster.NameFilter;
import java.util.Comparator;

/**
 * What pods of one kind ask for.
 *
 * @param cpu milli-CPU
 * @param share thousandths that it takes of each of its cards; 0 without cards
 * @param count cards; 0 for a pod that uses none
 * @param models the card models that it insists on
 */
public record Shape(int cpu, int share, int count, NameFilter models) implements Comparable<Shape> {
  private static final Comparator<Shape> ORDER =
      Comparator.comparingInt(Shape::count)
          .thenComparingInt(Shape::share)
          .thenComparingInt(Shape::cpu)
          .thenComparing(s -> s.models().toString());

  public Shape {
    check(cpu >= 0, "cpu %d: must not be negative", cpu);
    check(share >= 0 && share <= Room.CARD, "share %d: must be 0 to 1000", share);
    check(count >= 0, "count %d: must not be negative", count);
  }

  /** What it takes of all cards. */
  public int milli() {
    return share * count;
  }

  @Override
  public int compareTo(Shape other) {
    return ORDER.compare(this, other);
  }
}
