package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.Room;
import io.vgpu.control.scheduler.Verdict.Fits;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.NodeChoice;
import io.vgpu.control.scheduler.policy.NodeLoad;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.SearchLog;
import io.vgpu.control.scheduler.topology.Topology;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Plans one pod on one node: the same arithmetic for filter, prioritize, bind and the simulator
 * (control-plane.md 3.2 to 3.10). Pure for one workload model; any thread; the same input gives the
 * same plan.
 */
public final class Allocator {
  private static final Needs NOTHING = Needs.of(new PodDemand(List.of()), 1, 0);

  private final Policies policies;
  private final SearchLog searches;

  public Allocator(Policies policies) {
    this(policies, SearchLog.SILENT);
  }

  /** {@code searches}: told of every search among linked cards. */
  Allocator(Policies policies, SearchLog searches) {
    this.policies = policies;
    this.searches = searches;
  }

  /** Whether and how the pod fits on cards in this state, at a quick look. */
  Verdict plan(PodRequest pod, NodeView node, List<NodeView.Card> cards) {
    return plan(
        pod, new Standing(node, cards, node.hostTotal().minus(node.hostUsed())), Look.QUICK);
  }

  /**
   * Whether and how the pod fits. Where a deep look's choice of cards leaves no place for a later
   * container, the quick look's stands: what filter has promised, bind keeps.
   */
  public Verdict plan(PodRequest pod, Standing node, Look look) {
    return plan(pod, node, look, Alignment.NONE);
  }

  /** The same beside the pod's siblings. */
  Verdict plan(PodRequest pod, Standing node, Look look, Alignment alignment) {
    Optional<String> breach = DemandCheck.firstBreach(pod.demand());
    if (breach.isPresent()) {
      return Refused.of(Reason.DEMAND_INVALID, breach.get());
    }
    return switch (node.node().offer()) {
      case NodeOffer.NotOffered no -> Refused.of(no.reason(), no.detail());
      case NodeOffer.Offered offered -> {
        Verdict verdict = planOffered(pod, node, offered, look, alignment);
        yield look == Look.DEEP && verdict instanceof Refused
            ? planOffered(pod, node, offered, Look.QUICK, alignment)
            : verdict;
      }
    };
  }

  private Verdict planOffered(
      PodRequest pod, Standing node, NodeOffer.Offered offered, Look look, Alignment alignment) {
    NodeConfig config = offered.config();
    if (!pod.wishes().memory().accepts(config.memoryScaling())) {
      return Refused.of(
          Reason.NODE_MEMORY_TYPE_MISMATCH, "memoryScaling " + config.memoryScaling());
    }
    Candidates candidates = Candidates.of(node.cards());
    Needs needs = needs(pod, config, candidates);
    Optional<Refused> gated = candidates.gate(pod, needs);
    if (gated.isPresent()) {
      return gated.get();
    }
    Topology topology =
        new Topology(
            pod.wishes().topology(),
            pod.wishes().devicePolicy(),
            node.node().name(),
            offered,
            alignment,
            searches);
    ContainerWalk walk =
        new ContainerWalk(pod, node, policies.ofCards(pod.wishes()), look, topology);
    Optional<Refused> refused = walk.place(needs);
    if (refused.isPresent()) {
      return refused.get();
    }
    PodClaim claim = new PodClaim(walk.claims());
    return new Fits(
        new Placement(node.node().name(), claim, Footprint.of(claim, pod), walk.choices()));
  }

  private static Needs needs(PodRequest pod, NodeConfig config, Candidates candidates) {
    return Needs.of(pod.demand(), config.memoryFactor(), candidates.uniformMemory());
  }

  /** How well the pod goes to the node by its node policy; 0 for a node that it does not fit. */
  double score(PodRequest pod, NodeView node, List<NodeView.Card> cards) {
    Standing standing = new Standing(node, cards, node.hostTotal().minus(node.hostUsed()));
    return plan(pod, standing, Look.QUICK) instanceof Fits fits
        ? score(pod, standing, fits.placement().footprint(), Look.QUICK)
        : 0;
  }

  /**
   * How well the pod goes to the node by its node policy, higher is better; 0 for a node that
   * offers nothing.
   *
   * @param footprint of its plan there
   */
  public double score(PodRequest pod, Standing node, Footprint footprint, Look look) {
    return switch (node.node().offer()) {
      case NodeOffer.NotOffered no -> 0;
      case NodeOffer.Offered offered ->
          policies
              .ofNodes(pod.wishes())
              .score(choice(pod, node, footprint, () -> load(pod, node, offered.config()), look));
    };
  }

  private static NodeLoad load(PodRequest pod, Standing node, NodeConfig config) {
    Candidates candidates = Candidates.of(node.cards());
    return candidates.load(needs(pod, config, candidates));
  }

  private static NodeChoice choice(
      PodRequest pod, Standing node, Footprint footprint, Supplier<NodeLoad> load, Look look) {
    return new NodeChoice(
        load,
        () -> Needs.weights(pod.demand()),
        () -> Room.of(node.host(), node.cards()),
        () -> Room.of(node.host(), node.cards(), footprint),
        look);
  }

  /** Plans and scores in one; empty where the pod does not fit. A pod without cards always does. */
  public Optional<Assessed> assess(PodRequest pod, Standing node, Look look) {
    return assess(pod, node, look, Alignment.NONE);
  }

  /** The same beside the pod's siblings. */
  Optional<Assessed> assess(PodRequest pod, Standing node, Look look, Alignment alignment) {
    if (!pod.demand().asksForVgpu()) {
      Footprint footprint = Footprint.of(pod.host());
      return Optional.of(new Assessed(node, footprint, 0, scoreBeside(pod, node, footprint, look)));
    }
    return plan(pod, node, look, alignment) instanceof Fits fits
        ? Optional.of(
            new Assessed(
                node,
                fits.placement().footprint(),
                fitness(pod, node.node()),
                score(pod, node, fits.placement().footprint(), look)))
        : Optional.empty();
  }

  /** Of a pod that takes CPU and memory only: what that does to the cards beside it. */
  private double scoreBeside(PodRequest pod, Standing node, Footprint footprint, Look look) {
    return policies
        .ofNodes(pod.wishes())
        .score(choice(pod, node, footprint, () -> Candidates.of(node.cards()).load(NOTHING), look));
  }

  /** What a node's score is made of, in words. */
  String scoreParts(PodRequest pod, Standing node, Footprint footprint) {
    return switch (node.node().offer()) {
      case NodeOffer.NotOffered no -> no.reason().phrase();
      case NodeOffer.Offered offered ->
          policies
              .ofNodes(pod.wishes())
              .parts(
                  choice(pod, node, footprint, () -> load(pod, node, offered.config()), Look.DEEP));
    };
  }

  /**
   * How well the node is built for what the pod wants together; comes before every policy
   * (control-plane.md 3.7).
   */
  int fitness(PodRequest pod, NodeView node) {
    return switch (node.offer()) {
      case NodeOffer.NotOffered no -> 0;
      case NodeOffer.Offered offered ->
          Topology.fitness(pod.wishes().topology(), offered, together(pod));
    };
  }

  /** How many cards the largest container wants together. */
  static long together(PodRequest pod) {
    return pod.demand().vgpuContainers().stream()
        .mapToLong(ContainerDemand::number)
        .max()
        .orElse(0);
  }

  /** The policy that ranks nodes for the pod. */
  public AllocationPolicy nodePolicy(PodRequest pod) {
    return policies.ofNodes(pod.wishes());
  }

  /** The policy that orders a node's cards for the pod. */
  AllocationPolicy cardPolicy(PodRequest pod) {
    return policies.ofCards(pod.wishes());
  }
}
