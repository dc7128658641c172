package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.CardSums;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Glance;
import io.vgpu.control.scheduler.policy.Weights;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.Topology;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Ranks thousands of nodes for a pod of one container without a plan for each: the order and the
 * scores of a {@link NodeRanking} at a quick look (a property test holds them together). One pod,
 * one thread.
 */
final class QuickRanking {
  private final PodRequest pod;
  private final AllocationPolicy policy;
  private final QuickFit quick;
  private final @Nullable Glance glance;
  private final Weights weights;
  private final long together;
  private final long now;

  private QuickRanking(
      PodRequest pod,
      AllocationPolicy policy,
      QuickFit quick,
      @Nullable Glance glance,
      long nowNanos) {
    this.pod = pod;
    this.policy = policy;
    this.quick = quick;
    this.glance = glance;
    this.weights = Needs.weights(pod.demand());
    this.together = Allocator.together(pod);
    this.now = nowNanos;
  }

  /** Where the policy looks at sums alone, or can choose cards at a glance. */
  static Optional<QuickRanking> of(
      PodRequest pod, Allocator allocator, Alignment alignment, long nowNanos) {
    AllocationPolicy policy = allocator.nodePolicy(pod);
    boolean sums = policy.sumsOnly();
    Glance glance =
        !sums && pod.wishes().topology() == TopologyMode.NONE && allocator.cardPolicy(pod) == policy
            ? policy.glance()
            : null;
    return sums || glance != null
        ? QuickFit.of(pod, alignment)
            .map(quick -> new QuickRanking(pod, policy, quick, glance, nowNanos))
        : Optional.empty();
  }

  /** All nodes that fit; {@code tolls}: see {@link Assessed#less}. */
  Ranked rank(Asked nodes, Map<String, Double> tolls) {
    int[] positions = new int[nodes.byName().length];
    int[] fitness = new int[positions.length];
    double[] scores = new double[positions.length];
    int fits = 0;
    for (int known : nodes.byName()) {
      if (known > 0) {
        NodeView node = nodes.known(known - 1);
        CardSums sums = node.sumsFor(pod.pod().uid(), now);
        if (quick.refusal(node, sums) == null) {
          positions[fits] = known - 1;
          fitness[fits] = fitness(node, sums);
          scores[fits++] = score(node, sums, tolls);
        }
      }
    }
    return Ranked.of(positions, fitness, scores, fits);
  }

  private int fitness(NodeView node, CardSums sums) {
    TopologyMode mode = pod.wishes().topology();
    return mode != TopologyMode.NONE && node.offer() instanceof NodeOffer.Offered offered
        ? Topology.fitness(mode, offered, sums, together)
        : 0;
  }

  private double score(NodeView node, CardSums sums, Map<String, Double> tolls) {
    Glance at = glance;
    if (at == null) {
      return policy.ofSums(sums.total(), sums.used(), quick.total(sums), weights);
    }
    quick.look(at, node, sums);
    double score = policy.score(at);
    return tolls.isEmpty() ? score : score - toll(at, node, tolls);
  }

  private static double toll(Glance at, NodeView node, Map<String, Double> tolls) {
    double toll = 0;
    for (int card = 0; card < node.cards().size(); card++) {
      if (at.taken(card)) {
        toll += tolls.getOrDefault(node.cards().get(card).device().type(), 0.0) * at.share(card);
      }
    }
    return toll;
  }

  /** The node as it stands for the pod. */
  Standing standing(NodeView node) {
    return node.standing(pod.pod().uid(), now, true);
  }
}
