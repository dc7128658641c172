package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;
import io.vgpu.control.packing.WorkloadModel;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks several pods ahead: the node and the card where the placement destroys the least of what
 * pods to come could use, counts as little as may be as fragments, and keeps models that some pods
 * insist on from those who would run anywhere.
 *
 * <p>At a quick look the pods to come are left out; the best nodes by that are looked at deeply.
 */
public final class Foresight implements AllocationPolicy {
  private static final int DEEP_NODES = 32;
  private static final double FRAGMENT_WEIGHT = 0.3;
  private static final double TIGHT_WEIGHT = 100;
  private static final double PRICE_WEIGHT = 8;

  private final Supplier<WorkloadModel> model;
  private final BestFit fallback;

  public Foresight(Supplier<WorkloadModel> model) {
    this.model = model;
    this.fallback = new BestFit(model);
  }

  @Override
  public String word() {
    return "foresight";
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  @Override
  public int deepNodes() {
    return DEEP_NODES;
  }

  /** In thousandths of a card: what the placement costs the pods to come, and best fit. */
  @Override
  public double score(NodeChoice choice) {
    WorkloadModel now = model.get();
    if (!now.enough()) {
      return fallback.score(choice);
    }
    Room before = choice.before().get();
    Room after = choice.after().get();
    int taken = before.free() - after.free();
    return gain(now, value(now, before, choice.look()), after, choice.look())
        + taken
        + TIGHT_WEIGHT * now.tight(after);
  }

  @Override
  public @Nullable Glance glance() {
    WorkloadModel now = model.get();
    return now.enough() ? new Glance(now) : null;
  }

  @Override
  public double score(Glance glance) {
    glance.choose((beside, without) -> -FRAGMENT_WEIGHT * without, true);
    int freeBefore = glance.free();
    double before = -FRAGMENT_WEIGHT * glance.fragmentedBefore();
    double after = -FRAGMENT_WEIGHT * glance.fragmentedAfter();
    int taken = freeBefore - glance.free();
    return after - before + taken + TIGHT_WEIGHT * glance.tightAfter();
  }

  @Override
  public String parts(NodeChoice choice) {
    WorkloadModel now = model.get();
    Room before = choice.before().get();
    Room after = choice.after().get();
    return String.format(
        Locale.ROOT,
        "usable by pods to come %.0f to %.0f, fragments %.0f to %.0f, fullness %.2f, in 1/1000 card",
        now.usable(before),
        now.usable(after),
        now.fragmented(before),
        now.fragmented(after),
        now.tight(after));
  }

  @Override
  public boolean takesTolls() {
    return model.get().enough() && model.get().priced();
  }

  @Override
  public Map<String, Double> tolls(Map<String, Long> left) {
    Map<String, Double> tolls = new HashMap<>(model.get().prices(left));
    tolls.replaceAll((name, price) -> PRICE_WEIGHT * price);
    return tolls;
  }

  /** What a room is worth to pods to come, as far as this look goes. */
  private static double value(WorkloadModel now, Room room, Look look) {
    return switch (look) {
      case QUICK -> -FRAGMENT_WEIGHT * now.fragmented(room);
      case DEEP -> now.usable(room) - FRAGMENT_WEIGHT * now.fragmented(room);
    };
  }

  private static double gain(WorkloadModel now, double before, Room after, Look look) {
    return value(now, after, look) - before;
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    WorkloadModel now = model.get();
    if (!now.enough()) {
      return fallback.order(choice);
    }
    if (choice.candidates().size() == 1) {
      return choice.candidates();
    }
    Room room = choice.room().get();
    double[] values = new double[room.cards()];
    Arrays.fill(values, Double.NaN);
    for (CardRank c : choice.candidates()) {
      values[c.at()] = alike(choice, room, values, c);
      if (Double.isNaN(values[c.at()])) {
        values[c.at()] = value(now, room.without(c.at(), c.share()), choice.look());
      }
    }
    return choice.sorted(
        Comparator.<CardRank>comparingDouble(c -> -values[c.at()])
            .thenComparingInt(c -> room.card(c.at()))
            .thenComparingInt(CardRank::id));
  }

  /** The value of an earlier card that is in the same state; NaN where there is none. */
  private static double alike(CardChoice choice, Room room, double[] values, CardRank card) {
    for (CardRank c : choice.candidates()) {
      if (c.at() == card.at()) {
        break;
      }
      if (c.share() == card.share() && room.card(c.at()) == room.card(card.at())) {
        return values[c.at()];
      }
    }
    return Double.NaN;
  }

  @Override
  public String basis() {
    return basis(model.get());
  }

  static String basis(WorkloadModel now) {
    return now.enough() ? now.words() : now.words() + ", too few: best fit";
  }
}
