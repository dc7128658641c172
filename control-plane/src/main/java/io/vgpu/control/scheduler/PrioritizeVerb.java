package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.packing.Left;
import io.vgpu.control.packing.Room;
import io.vgpu.control.scheduler.FilterVerb.Hold;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.NodeChoice;
import io.vgpu.control.scheduler.policy.Weights;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.Topology;
import io.vgpu.model.PlacementPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Scores the nodes that fit, 0 to 10, by the pod's node policy (control-plane.md 3.7, D18). Reads
 * one snapshot, writes nothing. Any thread.
 */
final class PrioritizeVerb {
  private static final int SHOWN = 4;
  private static final int BEST_KEPT = 8;

  private final Allocator allocator;
  private final Alignments alignments;
  private final FilterVerb filter;
  private final Left left = new Left();
  private final PlacementPolicy steer;
  private final LongSupplier nanoTime;

  /**
   * @param levels of every node asked for, in request order
   * @param hold where the pod will most likely go; empty when all are alike
   * @param why the ranking in words
   */
  record Scores(
      Map<String, Integer> levels, Optional<Hold> hold, String why, List<Decision.Scored> best) {
    Scores(Map<String, Integer> levels, Optional<Hold> hold, String why) {
      this(levels, hold, why, List.of());
    }
  }

  /** {@code steer}: the policy for pods without cards. */
  PrioritizeVerb(
      Allocator allocator,
      Alignments alignments,
      FilterVerb filter,
      PlacementPolicy steer,
      LongSupplier nanoTime) {
    this.allocator = allocator;
    this.alignments = alignments;
    this.filter = filter;
    this.steer = steer;
    this.nanoTime = nanoTime;
  }

  /** Scores; the pod must be there. */
  Scores run(PodRequest pod, ExtenderArgs args, ClusterSnapshot snapshot) {
    return run(pod, pod.demand().asksForVgpu(), args, snapshot);
  }

  /**
   * Scores for a pod that asks for no card: where it leaves most for those who do. All alike for a
   * pod that asks for cards, which {@link #run} scores.
   */
  Scores steer(PodRequest pod, ExtenderArgs args, ClusterSnapshot snapshot) {
    return run(pod.ranked(steer), !pod.demand().asksForVgpu(), args, snapshot);
  }

  private Scores run(PodRequest pod, boolean asked, ExtenderArgs args, ClusterSnapshot snapshot) {
    Map<String, Optional<NodeView>> candidates = filter.candidates(args, snapshot);
    Map<String, Integer> levels = new LinkedHashMap<>();
    candidates.keySet().forEach(name -> levels.put(name, 0));
    AllocationPolicy policy = allocator.nodePolicy(pod);
    boolean fitnessOnly =
        pod.demand().asksForVgpu()
            && !policy.ranksNodes()
            && pod.wishes().topology() != TopologyMode.NONE;
    if (!asked || (!policy.ranksNodes() && !fitnessOnly)) {
      return new Scores(
          levels,
          Optional.empty(),
          "no node policy: kube-scheduler's own choice of " + levels.size() + " nodes that fit");
    }
    long now = nanoTime.getAsLong();
    List<Standing> nodes = new ArrayList<>();
    candidates
        .values()
        .forEach(node -> node.ifPresent(n -> nodes.add(n.standing(pod.pod().uid(), now, true))));
    Alignment alignment = alignments.of(pod, snapshot::node);
    List<Assessed> ranked =
        new NodeRanking(looks(pod, policy, alignment))
            .rank(pod, nodes, policy, () -> left.of(snapshot.all()));
    List<Ranking.Scored> ordered =
        ranked.stream()
            .map(a -> new Ranking.Scored(a.node().node().name(), a.fitness(), a.score()))
            .toList();
    if (fitnessOnly) {
      levels.putAll(Ranking.byFitness(ordered));
      return new Scores(
          levels,
          Optional.empty(),
          "no node policy: nodes by how they are built for "
              + pod.wishes().topology().word()
              + ", then kube-scheduler's own choice");
    }
    levels.putAll(Ranking.levels(ordered));
    return new Scores(
        levels, hold(pod, ranked, alignment), why(policy, ordered), best(pod, ranked, levels));
  }

  /** Where sums are all that counts no card is chosen. */
  private NodeRanking.Looks looks(PodRequest pod, AllocationPolicy policy, Alignment alignment) {
    Optional<QuickFit> quick = policy.sumsOnly() ? QuickFit.of(pod) : Optional.empty();
    Weights weights = Needs.weights(pod.demand());
    long together = Allocator.together(pod);
    return (p, node, look) ->
        quick.isPresent() && QuickFit.plain(node.node())
            ? assess(quick.get(), p, node, policy, weights, together)
            : allocator.assess(p, node, look, alignment);
  }

  private Optional<Assessed> assess(
      QuickFit quick,
      PodRequest pod,
      Standing node,
      AllocationPolicy policy,
      Weights weights,
      long together) {
    NodeView view = node.node();
    if (quick.refusal(view) != null || !(view.offer() instanceof NodeOffer.Offered offered)) {
      return Optional.empty();
    }
    double score =
        policy.score(
            new NodeChoice(
                () -> quick.load(view, offered),
                () -> weights,
                () -> Room.of(node.host(), node.cards()),
                () -> Room.of(node.host(), node.cards()),
                Look.QUICK));
    return Optional.of(
        new Assessed(
            node,
            Footprint.NONE,
            Topology.fitness(pod.wishes().topology(), offered, together),
            score));
  }

  /** The best few with what their scores are made of. */
  private List<Decision.Scored> best(
      PodRequest pod, List<Assessed> ranked, Map<String, Integer> levels) {
    return ranked.stream()
        .limit(BEST_KEPT)
        .map(
            a -> {
              String name = a.node().node().name();
              return new Decision.Scored(
                  name,
                  levels.getOrDefault(name, 0),
                  a.fitness(),
                  a.score(),
                  allocator.scoreParts(pod, a.node(), a.footprint()));
            })
        .toList();
  }

  private Optional<Hold> hold(PodRequest pod, List<Assessed> ranked, Alignment alignment) {
    return ranked.stream()
        .findFirst()
        .flatMap(best -> footprint(pod, best, alignment))
        .map(
            footprint ->
                new Hold(pod.pod().uid(), ranked.getFirst().node().node().name(), footprint));
  }

  private Optional<Footprint> footprint(PodRequest pod, Assessed best, Alignment alignment) {
    if (best.footprint() != Footprint.NONE) {
      return Optional.of(best.footprint());
    }
    return allocator.plan(pod, best.node(), Look.QUICK, alignment) instanceof Verdict.Fits fits
        ? Optional.of(fits.placement().footprint())
        : Optional.empty();
  }

  private static String why(AllocationPolicy policy, List<Ranking.Scored> ordered) {
    String shown =
        ordered.stream()
            .limit(SHOWN)
            .map(s -> String.format(Locale.ROOT, "%s %.2f", s.node(), s.score()))
            .collect(Collectors.joining(", "));
    String basis = policy.basis().isEmpty() ? "" : " (" + policy.basis() + ")";
    return policy.word()
        + basis
        + " over "
        + ordered.size()
        + " fitting nodes, best first: "
        + shown;
  }
}
