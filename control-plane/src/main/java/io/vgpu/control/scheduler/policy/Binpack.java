package io.vgpu.control.scheduler.policy;

import java.util.Comparator;

/** Busiest first, so that whole cards and nodes stay free for those who need them (U42). */
public final class Binpack implements AllocationPolicy {
  @Override
  public String word() {
    return "binpack";
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  /** Fullness after placing. */
  @Override
  public double score(NodeLoad load, Weights weights) {
    return load.fits() ? 100 * weights.fullness(load.total(), load.used().plus(load.need())) : 0;
  }

  @Override
  public Comparator<CardRank> cardOrder() {
    return Comparator.comparingDouble(CardRank::freeScore).thenComparingInt(CardRank::id);
  }
}
