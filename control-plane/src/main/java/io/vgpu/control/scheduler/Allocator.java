package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.scheduler.Verdict.Fits;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Optional;

/**
 * Plans one pod on one node: the same arithmetic for filter, prioritize and bind (control-plane.md
 * 3.2 to 3.10). Pure; any thread; the same input gives the same plan.
 */
final class Allocator {

  /**
   * Whether and how the pod fits on cards in this state. {@code cards}: the node's, for this pod.
   */
  Verdict plan(PodRequest pod, NodeView node, List<NodeView.Card> cards) {
    Optional<String> breach = DemandCheck.firstBreach(pod.demand());
    if (breach.isPresent()) {
      return Refused.of(Reason.DEMAND_INVALID, breach.get());
    }
    return switch (node.offer()) {
      case NodeOffer.NotOffered no -> Refused.of(no.reason(), no.detail());
      case NodeOffer.Offered offered -> planOffered(pod, node, offered.config(), cards);
    };
  }

  private static Verdict planOffered(
      PodRequest pod, NodeView node, NodeConfig config, List<NodeView.Card> cards) {
    if (!pod.wishes().memory().accepts(config.memoryScaling())) {
      return Refused.of(
          Reason.NODE_MEMORY_TYPE_MISMATCH, "memoryScaling " + config.memoryScaling());
    }
    Optional<Refused> unpromised = unpromised(pod.wishes().topology());
    if (unpromised.isPresent()) {
      return unpromised.get();
    }
    Candidates candidates = Candidates.of(cards);
    Needs needs = needs(pod, config, candidates);
    Optional<Refused> gated = candidates.gate(pod, needs);
    if (gated.isPresent()) {
      return gated.get();
    }
    ContainerWalk walk = new ContainerWalk(pod, cards, Policies.of(pod.wishes().devicePolicy()));
    Optional<Refused> refused = walk.place(needs);
    if (refused.isPresent()) {
      return refused.get();
    }
    PodClaim claim = new PodClaim(walk.claims());
    return new Fits(
        new Placement(node.name(), claim, Footprint.of(claim, pod.demand()), walk.choices()));
  }

  /** A strict mode is a promise; what cannot be kept is refused, never ignored. */
  private static Optional<Refused> unpromised(TopologyMode mode) {
    return switch (mode) {
      case NONE, NUMA, LINK -> Optional.empty();
      case NUMA_STRICT ->
          Optional.of(Refused.of(Reason.NUMA_TOPOLOGY_UNSATISFIED, cannotPromise(mode, "numa")));
      case LINK_STRICT ->
          Optional.of(Refused.of(Reason.LINK_TOPOLOGY_UNSATISFIED, cannotPromise(mode, "link")));
    };
  }

  private static String cannotPromise(TopologyMode mode, String instead) {
    return "this release cannot promise "
        + mode.word()
        + "; "
        + instead
        + " is served as far as possible";
  }

  private static Needs needs(PodRequest pod, NodeConfig config, Candidates candidates) {
    return Needs.of(pod.demand(), config.memoryFactor(), candidates.uniformMemory());
  }

  /**
   * How well the pod goes to the node by its node policy, 0 to 100; 0 for a node that offers
   * nothing.
   */
  double score(PodRequest pod, NodeView node, List<NodeView.Card> cards) {
    AllocationPolicy policy = Policies.of(pod.wishes().nodePolicy());
    return switch (node.offer()) {
      case NodeOffer.NotOffered no -> 0;
      case NodeOffer.Offered offered -> {
        Candidates candidates = Candidates.of(cards);
        yield policy.score(
            candidates.load(needs(pod, offered.config(), candidates)), Needs.weights(pod.demand()));
      }
    };
  }
}
