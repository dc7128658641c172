package io.vgpu.control.simulate;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.packing.ClusterShape;
import io.vgpu.control.packing.Room;
import io.vgpu.control.packing.Shape;
import io.vgpu.control.packing.Weight;
import io.vgpu.control.packing.WorkloadModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Empty nodes and the pods that the workload is made of. Immutable. */
public record SimCluster(List<NodeView> nodes, List<SimPod> pods) {
  public SimCluster {
    nodes = List.copyOf(nodes);
    pods = List.copyOf(pods);
  }

  /** Thousandths of all usable cards. */
  long totalMilli() {
    return (long) ClusterShape.of(nodes).allCards() * Room.CARD;
  }

  /** What a cluster that has run these pods would know of them. */
  WorkloadModel workload() {
    Map<Shape, Weight> weights = new HashMap<>();
    for (SimPod pod : pods) {
      weights.merge(
          new Shape(
              (int) Math.min(Integer.MAX_VALUE / 4, pod.request().host().cpuMilli()),
              pod.share(),
              pod.count(),
              pod.request().wishes().types()),
          new Weight(1, pod.request().host().memoryMiB()),
          Weight::plus);
    }
    return WorkloadModel.of(1, pods.size(), weights, ClusterShape.of(nodes));
  }
}
