package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.packing.Left;
import io.vgpu.control.scheduler.FilterVerb.Hold;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.model.PlacementPolicy;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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
   * @param levels of every node asked for, by position
   * @param hold where the pod will most likely go; empty when all are alike
   * @param why the ranking in words
   */
  record Scores(
      Asked asked, byte[] levels, Optional<Hold> hold, String why, List<Decision.Scored> best) {
    Scores(Asked asked, byte[] levels, String why) {
      this(asked, levels, Optional.empty(), why, List.of());
    }

    /** By name, in request order. */
    Map<String, Integer> byName() {
      Map<String, Integer> byName = new LinkedHashMap<>();
      for (int i = 0; i < levels.length; i++) {
        byName.put(asked.names().get(i), (int) levels[i]);
      }
      return byName;
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
    Asked nodes = filter.asked(args, snapshot);
    AllocationPolicy policy = allocator.nodePolicy(pod);
    boolean fitnessOnly =
        pod.demand().asksForVgpu()
            && !policy.ranksNodes()
            && pod.wishes().topology() != TopologyMode.NONE;
    if (!asked || (!policy.ranksNodes() && !fitnessOnly)) {
      return new Scores(
          nodes,
          new byte[nodes.size()],
          "no node policy: kube-scheduler's own choice of " + nodes.size() + " nodes that fit");
    }
    long now = nanoTime.getAsLong();
    Alignment alignment = alignments.of(pod, snapshot::node);
    Order order =
        QuickRanking.of(pod, allocator, alignment, now)
            .map(quick -> quick(pod, policy, quick, nodes, alignment, snapshot))
            .orElseGet(() -> byPlans(pod, policy, nodes, alignment, snapshot, now));
    if (fitnessOnly) {
      return new Scores(
          nodes,
          Ranking.byFitness(order.ranked(), nodes.size()),
          "no node policy: nodes by how they are built for "
              + pod.wishes().topology().word()
              + ", then kube-scheduler's own choice");
    }
    byte[] levels = Ranking.levels(order.ranked(), nodes.size());
    return new Scores(
        nodes,
        levels,
        hold(pod, order, alignment),
        why(policy, nodes, order.ranked()),
        best(pod, policy, nodes, order, levels, alignment));
  }

  /**
   * Who comes after whom.
   *
   * @param places the pod's, by rank
   */
  private record Order(Ranked ranked, IntFunction<Place> places) {}

  /** {@code footprint}: empty where no cards have been chosen yet. */
  private record Place(Standing node, Optional<Footprint> footprint) {}

  /** Plans are made for those only that deserve a deep look. */
  private Order quick(
      PodRequest pod,
      AllocationPolicy policy,
      QuickRanking quick,
      Asked nodes,
      Alignment alignment,
      ClusterSnapshot snapshot) {
    Map<String, Double> tolls = NodeRanking.tolls(pod, policy, () -> left.of(snapshot.all()));
    Ranked ranked = quick.rank(nodes, tolls);
    Map<Standing, Integer> positions = new IdentityHashMap<>();
    List<Standing> best = new ArrayList<>();
    for (int rank = 0; rank < Math.min(policy.deepNodes(), ranked.size()); rank++) {
      Standing node = quick.standing(nodes.known(ranked.position(rank)));
      positions.put(node, ranked.position(rank));
      best.add(node);
    }
    List<Assessed> deep = ranking(alignment).deep(pod, best, tolls);
    Ranked all =
        ranked.withFirst(
            deep.stream().mapToInt(a -> positions.getOrDefault(a.node(), 0)).toArray(),
            deep.stream().mapToDouble(Assessed::score).toArray());
    return new Order(
        all,
        rank ->
            rank < deep.size()
                ? new Place(deep.get(rank).node(), Optional.of(deep.get(rank).footprint()))
                : new Place(quick.standing(nodes.known(all.position(rank))), Optional.empty()));
  }

  private NodeRanking ranking(Alignment alignment) {
    return new NodeRanking((p, node, look) -> allocator.assess(p, node, look, alignment));
  }

  private Order byPlans(
      PodRequest pod,
      AllocationPolicy policy,
      Asked nodes,
      Alignment alignment,
      ClusterSnapshot snapshot,
      long now) {
    List<Standing> standings = new ArrayList<>();
    Map<Standing, Integer> positions = new IdentityHashMap<>();
    for (int known : nodes.byName()) {
      if (known > 0) {
        Standing standing = nodes.known(known - 1).standing(pod.pod().uid(), now, true);
        standings.add(standing);
        positions.put(standing, known - 1);
      }
    }
    List<Assessed> ranked =
        ranking(alignment).rank(pod, standings, policy, () -> left.of(snapshot.all()));
    return new Order(
        Ranked.inOrder(
            ranked.stream().mapToInt(a -> positions.getOrDefault(a.node(), 0)).toArray(),
            ranked.stream().mapToInt(Assessed::fitness).toArray(),
            ranked.stream().mapToDouble(Assessed::score).toArray()),
        rank -> new Place(ranked.get(rank).node(), Optional.of(ranked.get(rank).footprint())));
  }

  /** The best few with what their scores are made of. */
  private List<Decision.Scored> best(
      PodRequest pod,
      AllocationPolicy policy,
      Asked nodes,
      Order order,
      byte[] levels,
      Alignment alignment) {
    List<Decision.Scored> best = new ArrayList<>();
    Ranked ranked = order.ranked();
    for (int rank = 0; rank < Math.min(BEST_KEPT, ranked.size()); rank++) {
      int position = ranked.position(rank);
      Place place = order.places().apply(rank);
      // sums are the same whatever the cards
      Optional<Footprint> footprint =
          policy.sumsOnly() ? place.footprint() : footprint(pod, place, alignment);
      best.add(
          new Decision.Scored(
              nodes.known(position).name(),
              levels[position],
              ranked.fitness(rank),
              ranked.score(rank),
              allocator.scoreParts(pod, place.node(), footprint.orElse(Footprint.NONE))));
    }
    return best;
  }

  private Optional<Hold> hold(PodRequest pod, Order order, Alignment alignment) {
    if (order.ranked().size() == 0) {
      return Optional.empty();
    }
    Place best = order.places().apply(0);
    return footprint(pod, best, alignment)
        .map(footprint -> new Hold(pod.pod().uid(), best.node().node().name(), footprint));
  }

  private Optional<Footprint> footprint(PodRequest pod, Place place, Alignment alignment) {
    return place
        .footprint()
        .or(
            () ->
                allocator.plan(pod, place.node(), Look.QUICK, alignment)
                        instanceof Verdict.Fits fits
                    ? Optional.of(fits.placement().footprint())
                    : Optional.empty());
  }

  private static String why(AllocationPolicy policy, Asked nodes, Ranked ranked) {
    String shown =
        IntStream.range(0, Math.min(SHOWN, ranked.size()))
            .mapToObj(
                rank ->
                    String.format(
                        Locale.ROOT,
                        "%s %.2f",
                        nodes.known(ranked.position(rank)).name(),
                        ranked.score(rank)))
            .collect(Collectors.joining(", "));
    String basis = policy.basis().isEmpty() ? "" : " (" + policy.basis() + ")";
    return policy.word()
        + basis
        + " over "
        + ranked.size()
        + " fitting nodes, best first: "
        + shown;
  }
}
