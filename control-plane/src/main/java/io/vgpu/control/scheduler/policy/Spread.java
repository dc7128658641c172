package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;
import java.util.Comparator;
import java.util.List;

/** Idlest first, so that neighbours disturb each other least and a fault hits few (U42). */
public final class Spread implements AllocationPolicy {
  private static final Comparator<CardRank> ORDER =
      Comparator.comparingDouble(CardRank::freeScore).reversed().thenComparingInt(CardRank::id);

  @Override
  public String word() {
    return "spread";
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

  /** Emptiness before placing, 0 to 100 (control-plane.md 3.7). */
  @Override
  public double ofSums(Use total, Use used, Use need, Weights weights) {
    return NodeLoad.fits(total, used, need)
        ? 100 * (1 - weights.fullness(total, used, Use.ZERO))
        : 0;
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    return choice.sorted(ORDER);
  }
}
