package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;
import io.vgpu.control.packing.WorkloadModel;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Fragmentation gradient descent (USENIX ATC'23): the node and the card where the placement makes
 * the least idle share unusable for typical pods. Scores are whole percents, as published: the ties
 * are part of how well it packs.
 */
public final class Fgd implements AllocationPolicy {
  private final Supplier<WorkloadModel> model;
  private final BestFit fallback;

  public Fgd(Supplier<WorkloadModel> model) {
    this.model = model;
    this.fallback = new BestFit(model);
  }

  @Override
  public String word() {
    return "fgd";
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  /** 0 to 100; 50 where nothing changes. */
  @Override
  public double score(NodeChoice choice) {
    WorkloadModel now = model.get();
    return now.enough()
        ? score(now.fragmented(choice.before().get()), now.fragmented(choice.after().get()))
        : fallback.score(choice);
  }

  @Override
  public @Nullable Glance glance() {
    WorkloadModel now = model.get();
    return now.enough() ? new Glance(now) : null;
  }

  @Override
  public double score(Glance glance) {
    glance.choose(Fgd::score, false);
    double before = glance.fragmentedBefore();
    return score(before, glance.fragmentedAfter());
  }

  private static double score(double before, double after) {
    return FgdPercent.of(after - before);
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    WorkloadModel now = model.get();
    if (!now.enough()) {
      return fallback.order(choice);
    }
    Room room = choice.room().get();
    double before = now.fragmented(room);
    double[] scores = new double[room.cards()];
    for (CardRank c : choice.candidates()) {
      scores[c.at()] = score(before, now.fragmented(room.without(c.at(), c.share())));
    }
    return choice.sorted(
        Comparator.<CardRank>comparingDouble(c -> -scores[c.at()]).thenComparingInt(CardRank::id));
  }

  @Override
  public String parts(NodeChoice choice) {
    WorkloadModel now = model.get();
    return String.format(
        Locale.ROOT,
        "fragments %.0f to %.0f, in 1/1000 card",
        now.fragmented(choice.before().get()),
        now.fragmented(choice.after().get()));
  }

  @Override
  public String basis() {
    return Foresight.basis(model.get());
  }
}
