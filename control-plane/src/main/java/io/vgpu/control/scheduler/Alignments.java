package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.SiblingPlace;
import io.vgpu.control.cluster.Siblings;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.scheduler.topology.Alignment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Finds where a pod's siblings are, for the pods that want to be near them (control-plane.md 3.13).
 * Any thread.
 */
final class Alignments {
  private final Siblings siblings;

  Alignments(Siblings siblings) {
    this.siblings = siblings;
  }

  /** Of a pod; {@code nodes}: any node of the cluster by name, candidate or not. */
  Alignment of(PodRequest pod, Function<String, Optional<NodeView>> nodes) {
    TopologyMode mode = pod.wishes().topology();
    boolean link = mode == TopologyMode.LINK || mode == TopologyMode.LINK_STRICT;
    if (!link || !pod.wishes().crossPod()) {
      return Alignment.NONE;
    }
    List<SiblingPlace> places = siblings.of(pod);
    Map<String, NodeOffer.Offered> offers = new HashMap<>();
    for (SiblingPlace place : places) {
      if (nodes.apply(place.node()).map(NodeView::offer).orElse(null)
          instanceof NodeOffer.Offered offered) {
        offers.put(place.node(), offered);
      }
    }
    return Alignment.of(places, offers);
  }
}
