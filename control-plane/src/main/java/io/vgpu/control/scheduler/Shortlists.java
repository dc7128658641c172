package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.packing.Left;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.topology.Alignment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Names the best of a pod's fitting nodes and leaves the rest out: to write, read and score a
 * thousand names costs kube-scheduler more than to place the pod, and in a large cluster it never
 * looks at all nodes by itself either. Any thread.
 *
 * <p>Where a policy ranks nodes, the best are exactly those that prioritize would rank first. Where
 * none does, they take turns: evenly spread over the names, because neighbours by name often share
 * a zone, and beginning one further with each pod.
 */
final class Shortlists {
  /** kube-scheduler's own: so many feasible nodes it always looks for. */
  static final int USUAL = 100;

  private final int most;
  private final Allocator allocator;
  private final Left left = new Left();
  private final AtomicInteger turn = new AtomicInteger();

  /** {@code most}: so many nodes are named at most; 0 names all. */
  Shortlists(int most, Allocator allocator) {
    this.most = most;
    this.allocator = allocator;
  }

  /** Whether there is anything to leave out. */
  boolean shortens(int fits) {
    return most > 0 && fits > most;
  }

  /**
   * The best.
   *
   * @param fitting positions of all that fit, in the order of their names
   * @param now at which they were judged
   */
  Shortlist of(
      PodRequest pod,
      Asked asked,
      int[] fitting,
      Alignment alignment,
      ClusterSnapshot snapshot,
      long now) {
    AllocationPolicy policy = allocator.nodePolicy(pod);
    // of so many a deep look decides who is first, so none of them may be missing
    int wanted = Math.max(most, policy.deepNodes());
    if (fitting.length <= wanted) {
      return Shortlist.all(fitting.length);
    }
    return policy.ranksNodes()
        ? best(ranked(pod, policy, asked, fitting, alignment, snapshot, now), wanted)
        : byTurns(pod, asked, fitting, wanted);
  }

  private static Shortlist best(Ranked ranked, int wanted) {
    BitSet best = new BitSet();
    for (int rank = 0; rank < wanted; rank++) {
      best.set(ranked.position(rank));
    }
    List<Integer> next = new ArrayList<>();
    for (int rank = wanted; rank < ranked.size() && next.size() < Shortlist.REMEMBERED; rank++) {
      next.add(ranked.position(rank));
    }
    return new Shortlist(best, wanted, wanted + " better ones were", next);
  }

  /** As prioritize ranks them, without a deep look. */
  private Ranked ranked(
      PodRequest pod,
      AllocationPolicy policy,
      Asked asked,
      int[] fitting,
      Alignment alignment,
      ClusterSnapshot snapshot,
      long now) {
    Map<String, Double> tolls = NodeRanking.tolls(pod, policy, () -> left.of(snapshot.all()));
    return QuickRanking.of(pod, allocator, alignment, now)
        .map(quick -> quick.rank(asked, tolls))
        .orElseGet(() -> planned(pod, asked, fitting, alignment, tolls, now));
  }

  private Ranked planned(
      PodRequest pod,
      Asked asked,
      int[] fitting,
      Alignment alignment,
      Map<String, Double> tolls,
      long now) {
    List<Standing> standings = new ArrayList<>(fitting.length);
    for (int position : fitting) {
      standings.add(asked.known(position).standing(pod.pod().uid(), now, true));
    }
    return new NodeRanking((p, node, look) -> allocator.assess(p, node, look, alignment))
        .quick(pod, standings, fitting, tolls);
  }

  /** The fittest, and of those that are as fit as the last of them some in turn. */
  private Shortlist byTurns(PodRequest pod, Asked asked, int[] fitting, int wanted) {
    int[] fitness = fitness(pod, asked, fitting);
    int level = Arrays.stream(fitness).max().orElse(0);
    BitSet chosen = new BitSet();
    int[] alike = alike(fitting, fitness, level);
    while (chosen.cardinality() + alike.length <= wanted) {
      for (int position : alike) {
        chosen.set(position);
      }
      alike = alike(fitting, fitness, --level);
    }
    int room = wanted - chosen.cardinality();
    int start = Math.floorMod(turn.getAndIncrement(), alike.length);
    for (int i = 0; i < room; i++) {
      chosen.set(alike[(int) ((start + (long) i * alike.length / room) % alike.length)]);
    }
    List<Integer> next = new ArrayList<>();
    for (int i = 1; i <= alike.length && next.size() < Shortlist.REMEMBERED; i++) {
      int position = alike[(start + i) % alike.length];
      if (!chosen.get(position)) {
        next.add(position);
      }
    }
    return new Shortlist(chosen, wanted, wanted + " others were, by turns", next);
  }

  private int[] fitness(PodRequest pod, Asked asked, int[] fitting) {
    int[] fitness = new int[fitting.length];
    if (pod.wishes().topology() != TopologyMode.NONE) {
      Arrays.setAll(fitness, i -> allocator.fitness(pod, asked.known(fitting[i])));
    }
    return fitness;
  }

  private static int[] alike(int[] fitting, int[] fitness, int level) {
    int[] alike = new int[fitting.length];
    int n = 0;
    for (int i = 0; i < fitting.length; i++) {
      if (fitness[i] == level) {
        alike[n++] = fitting[i];
      }
    }
    return Arrays.copyOf(alike, n);
  }
}
