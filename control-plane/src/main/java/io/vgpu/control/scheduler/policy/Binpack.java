package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;
import java.util.Comparator;
import java.util.List;

/** Busiest first, so that whole cards and nodes stay free for those who need them (U42). */
public final class Binpack implements AllocationPolicy {
  private static final Comparator<CardRank> ORDER =
      Comparator.comparingDouble(CardRank::freeScore).thenComparingInt(CardRank::id);

  @Override
  public String word() {
    return "binpack";
  }

  @Override
  public boolean sumsOnly() {
    return true;
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  @Override
  public double score(NodeChoice choice) {
    NodeLoad load = choice.load().get();
    return ofSums(load.total(), load.used(), load.need(), choice.weights().get());
  }

  /** Fullness after placing, 0 to 100 (control-plane.md 3.7). */
  @Override
  public double ofSums(Use total, Use used, Use need, Weights weights) {
    return NodeLoad.fits(total, used, need) ? 100 * weights.fullness(total, used, need) : 0;
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    return choice.sorted(ORDER);
  }
}
