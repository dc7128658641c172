package io.vgpu.control.scheduler.policy;

import java.util.Comparator;

/** All nodes alike, so that kube-scheduler's own scores decide; cards by NUMA node, then index. */
public final class NoPreference implements AllocationPolicy {
  @Override
  public String word() {
    return "none";
  }

  @Override
  public boolean ranksNodes() {
    return false;
  }

  @Override
  public double score(NodeLoad load, Weights weights) {
    return 0;
  }

  @Override
  public Comparator<CardRank> cardOrder() {
    return Comparator.<CardRank>comparingInt(c -> c.numa() < 0 ? Integer.MAX_VALUE : c.numa())
        .thenComparingInt(CardRank::id);
  }
}
