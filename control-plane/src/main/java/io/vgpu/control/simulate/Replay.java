package io.vgpu.control.simulate;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.Room;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.Allocator;
import io.vgpu.control.scheduler.Assessed;
import io.vgpu.control.scheduler.NodeRanking;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * One policy, one order of arrivals: each pod goes to the node that the product would choose, none
 * leaves, one that fits nowhere is dropped. CPU and memory are filtered here, as kube-scheduler
 * does. One thread, one use.
 */
final class Replay {
  private final WorkloadModel workload;
  private final AllocationPolicy policy;
  private final List<Standing> nodes = new ArrayList<>();
  private final double[] fragments;
  private final double total;
  private final Map<String, Long> left = new HashMap<>();
  private final Allocator allocator;
  private final Looked looked;
  private final NodeRanking ranking;
  private final Map<String, Integer> places = new HashMap<>();

  Replay(SimCluster cluster, WorkloadModel workload, AllocationPolicy policy) {
    this.total = cluster.totalMilli();
    this.workload = workload;
    this.policy = policy;
    for (NodeView node : cluster.nodes()) {
      places.put(node.name(), nodes.size());
      nodes.add(node.standing("", 0, true));
      count(nodes.getLast(), 1);
    }
    this.fragments = new double[nodes.size()];
    for (int i = 0; i < fragments.length; i++) {
      fragments[i] = fragmented(nodes.get(i));
    }
    this.allocator = new Allocator(Policies.always(policy));
    this.looked = new Looked(allocator, nodes);
    this.ranking = new NodeRanking(looked);
  }

  private double fragmented(Standing node) {
    return workload.fragmented(Room.of(node.host(), node.cards()));
  }

  /**
   * Plays all arrivals; a point for every whole percent, the nearest to it.
   *
   * @param each told how many pods have arrived
   */
  List<Point> run(List<SimPod> arrivals, long seed, IntConsumer each) {
    List<Point> moments = new ArrayList<>(arrivals.size() + 1);
    long arrived = 0;
    long allocated = 0;
    moments.add(point(seed, 0, 0));
    for (int i = 0; i < arrivals.size(); i++) {
      SimPod pod = arrivals.get(i);
      arrived += pod.milli();
      if (place(pod).isPresent()) {
        allocated += pod.milli();
      }
      moments.add(point(seed, arrived / total, allocated / total));
      each.accept(i + 1);
    }
    return Percents.of(moments);
  }

  private Point point(long seed, double arrived, double allocated) {
    double sum = 0;
    for (double f : fragments) {
      sum += f;
    }
    return new Point(policy.word(), seed, 100 * arrived, 100 * allocated, 100 * sum / total);
  }

  private void count(Standing node, int sign) {
    Room room = Room.of(node.host(), node.cards());
    left.merge(room.model(), (long) sign * room.free(), Long::sum);
  }

  /** The nodes as they stand. */
  List<Standing> nodes() {
    return List.copyOf(nodes);
  }

  /** Where the product would put it. */
  Optional<Assessed> place(SimPod pod) {
    List<Standing> candidates = new ArrayList<>(nodes.size());
    for (Standing node : nodes) {
      if (pod.request().host().within(node.host())) {
        candidates.add(node);
      }
    }
    looked.of(pod);
    List<Assessed> ranked = ranking.rank(pod.request(), candidates, policy, () -> left);
    Optional<Assessed> best =
        policy instanceof RandomChoice dice && !ranked.isEmpty()
            // kept answers would be dice thrown once
            ? allocator.assess(pod.request(), dice.any(ranked).node(), Look.DEEP)
            : ranked.stream().findFirst();
    best.ifPresent(this::take);
    return best;
  }

  private void take(Assessed chosen) {
    int place = places.getOrDefault(chosen.node().node().name(), -1);
    Standing after = chosen.node().with(chosen.footprint());
    nodes.set(place, after);
    count(chosen.node(), -1);
    count(after, 1);
    fragments[place] = fragmented(after);
  }
}
