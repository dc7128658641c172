package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.policy.Look;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Ranks nodes for one pod by its node policy: all of them at a quick look, the best of them again
 * at a deep one where the policy has one. Pure; any thread.
 */
public final class NodeRanking {
  /** Fittest first, best first; equal scores by name (control-plane.md 3.7). */
  private static final Comparator<Assessed> ORDER =
      Comparator.comparingInt(Assessed::fitness)
          .thenComparingDouble(Assessed::score)
          .reversed()
          .thenComparing(a -> a.node().node().name());

  private final Looks looks;

  /** Looks at one node: {@link Allocator#assess}, or what it said before. */
  @FunctionalInterface
  public interface Looks {
    /** Empty where the pod does not fit. */
    Optional<Assessed> at(PodRequest pod, Standing node, Look look);
  }

  public NodeRanking(Looks looks) {
    this.looks = looks;
  }

  /**
   * The nodes that the pod fits, best first.
   *
   * @param deepNodes how many of the best at a quick look deserve a deep one
   */
  public List<Assessed> rank(PodRequest pod, List<Standing> nodes, int deepNodes) {
    List<Assessed> ranked = new ArrayList<>(nodes.size());
    for (Standing node : nodes) {
      looks.at(pod, node, Look.QUICK).ifPresent(ranked::add);
    }
    ranked.sort(ORDER);
    if (deepNodes > 0) {
      List<Assessed> best = ranked.subList(0, Math.min(deepNodes, ranked.size()));
      // the scores of the two looks do not compare: those behind stay behind, in their order
      best.replaceAll(a -> looks.at(pod, a.node(), Look.DEEP).orElse(a));
      best.sort(ORDER);
    }
    return ranked;
  }
}
