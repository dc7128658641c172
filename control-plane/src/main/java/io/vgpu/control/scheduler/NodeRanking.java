package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.Ranking.Scored;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Ranks nodes for one pod by its node policy: all of them at a quick look, the best of them again
 * at a deep one where the policy has one. Pure; any thread.
 */
final class NodeRanking {
  private final Allocator allocator;

  /**
   * Nodes that fit, best first.
   *
   * @param placements of each of them, by node
   */
  record Ranked(List<Scored> ordered, Map<String, Placement> placements) {}

  NodeRanking(Allocator allocator) {
    this.allocator = allocator;
  }

  /** Plans and ranks. */
  Ranked rank(PodRequest pod, List<Standing> nodes) {
    Map<String, Standing> standing = new HashMap<>();
    Map<String, Placement> placements = new HashMap<>();
    List<Scored> scored = new ArrayList<>();
    for (Standing node : nodes) {
      if (allocator.plan(pod, node, Look.QUICK) instanceof Verdict.Fits fits) {
        String name = node.node().name();
        standing.put(name, node);
        placements.put(name, fits.placement());
        scored.add(
            new Scored(name, allocator.score(pod, node, fits.placement().footprint(), Look.QUICK)));
      }
    }
    List<Scored> ordered = Ranking.ordered(scored);
    AllocationPolicy policy = allocator.nodePolicy(pod);
    if (policy.deepNodes() > 0) {
      ordered = deep(pod, ordered, policy.deepNodes(), standing, placements);
    }
    return new Ranked(ordered, placements);
  }

  private List<Scored> deep(
      PodRequest pod,
      List<Scored> ordered,
      int many,
      Map<String, Standing> standing,
      Map<String, Placement> placements) {
    List<Scored> best = new ArrayList<>();
    for (Scored quick : ordered.subList(0, Math.min(many, ordered.size()))) {
      Standing node = standing.get(quick.node());
      if (node != null && allocator.plan(pod, node, Look.DEEP) instanceof Verdict.Fits fits) {
        placements.put(quick.node(), fits.placement());
        best.add(
            new Scored(
                quick.node(), allocator.score(pod, node, fits.placement().footprint(), Look.DEEP)));
      }
    }
    List<Scored> all = new ArrayList<>(Ranking.ordered(best));
    all.addAll(ordered.subList(Math.min(many, ordered.size()), ordered.size()));
    return all;
  }
}
