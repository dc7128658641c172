package io.vgpu.control.scheduler.policy;

import java.util.Comparator;

/** Idlest first, so that neighbours disturb each other least and a fault hits few (U42). */
public final class Spread implements AllocationPolicy {
  @Override
  public String word() {
    return "spread";
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  /** Emptiness before placing. */
  @Override
  public double score(NodeLoad load, Weights weights) {
    return load.fits() ? 100 * (1 - weights.fullness(load.total(), load.used())) : 0;
  }

  @Override
  public Comparator<CardRank> cardOrder() {
    return Comparator.comparingDouble(CardRank::freeScore)
        .reversed()
        .thenComparingInt(CardRank::id);
  }
}
