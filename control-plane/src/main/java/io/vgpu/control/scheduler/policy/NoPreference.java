package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;
import java.util.Comparator;
import java.util.List;

/** All nodes alike, so that kube-scheduler's own scores decide; cards by NUMA node, then index. */
public final class NoPreference implements AllocationPolicy {
  private static final Comparator<CardRank> ORDER =
      Comparator.<CardRank>comparingInt(c -> c.numa() < 0 ? Integer.MAX_VALUE : c.numa())
          .thenComparingInt(CardRank::id);

  @Override
  public String word() {
    return "none";
  }

  @Override
  public boolean sumsOnly() {
    return true;
  }

  @Override
  public boolean ranksNodes() {
    return false;
  }

  @Override
  public double score(NodeChoice choice) {
    return 0;
  }

  @Override
  public double ofSums(Use total, Use used, Use need, Weights weights) {
    return 0;
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    return choice.sorted(ORDER);
  }
}
