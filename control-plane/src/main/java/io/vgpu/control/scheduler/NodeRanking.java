package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Ranks nodes for one pod by its node policy: all of them at a quick look, the best of them again
 * at a deep one where the policy has one. Pure; any thread.
 */
public final class NodeRanking {
  /** Fittest first, best first; equal scores by name (control-plane.md 3.7). */
  private static final Comparator<Assessed> ORDER = NodeRanking::compare;

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

  private static int compare(Assessed a, Assessed b) {
    if (a.fitness() != b.fitness()) {
      return Integer.compare(b.fitness(), a.fitness());
    }
    int byScore = Double.compare(b.score(), a.score());
    return byScore != 0 ? byScore : a.node().node().name().compareTo(b.node().node().name());
  }

  /**
   * The nodes that the pod fits, best first.
   *
   * @param policy the pod's node policy
   * @param left of each model in the whole cluster, thousandths of cards; asked for where it counts
   */
  public List<Assessed> rank(
      PodRequest pod,
      List<Standing> nodes,
      AllocationPolicy policy,
      Supplier<Map<String, Long>> left) {
    Map<String, Double> tolls = tolls(pod, policy, left);
    List<Assessed> ranked = new ArrayList<>(nodes.size());
    for (Standing node : nodes) {
      quick(pod, node, tolls).ifPresent(ranked::add);
    }
    ranked.sort(ORDER);
    if (policy.deepNodes() > 0) {
      List<Assessed> best = ranked.subList(0, Math.min(policy.deepNodes(), ranked.size()));
      // the scores of the two looks do not compare: those behind stay behind, in their order
      best.replaceAll(a -> deep(pod, a.node(), tolls).orElse(a));
      best.sort(ORDER);
    }
    return ranked;
  }

  /**
   * The order of a quick look alone.
   *
   * @param nodes in the order of their names
   * @param positions of each among those asked about
   */
  Ranked quick(PodRequest pod, List<Standing> nodes, int[] positions, Map<String, Double> tolls) {
    int[] fits = new int[positions.length];
    int[] fitness = new int[positions.length];
    double[] scores = new double[positions.length];
    int n = 0;
    for (int i = 0; i < positions.length; i++) {
      Optional<Assessed> assessed = quick(pod, nodes.get(i), tolls);
      if (assessed.isPresent()) {
        fits[n] = positions[i];
        fitness[n] = assessed.get().fitness();
        scores[n++] = assessed.get().score();
      }
    }
    return Ranked.of(fits, fitness, scores, n);
  }

  private Optional<Assessed> quick(PodRequest pod, Standing node, Map<String, Double> tolls) {
    return looks.at(pod, node, Look.QUICK).map(a -> a.less(tolls));
  }

  /** What pods that would run on any model have to pay for those that some insist on. */
  static Map<String, Double> tolls(
      PodRequest pod, AllocationPolicy policy, Supplier<Map<String, Long>> left) {
    return policy.takesTolls() && pod.wishes().types().isEmpty() && pod.demand().asksForVgpu()
        ? policy.tolls(left.get())
        : Map.of();
  }

  /** The nodes that a quick look found best, ranked again at a deep one. */
  List<Assessed> deep(PodRequest pod, List<Standing> best, Map<String, Double> tolls) {
    List<Assessed> ranked = new ArrayList<>(best.size());
    best.forEach(node -> deep(pod, node, tolls).ifPresent(ranked::add));
    ranked.sort(ORDER);
    return ranked;
  }

  private Optional<Assessed> deep(PodRequest pod, Standing node, Map<String, Double> tolls) {
    return looks.at(pod, node, Look.DEEP).map(d -> d.less(tolls));
  }
}
