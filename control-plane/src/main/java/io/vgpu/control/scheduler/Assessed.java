package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.Room;
import io.vgpu.model.Use;
import java.util.Map;

/**
 * A pod on a node where it fits.
 *
 * @param footprint what it would take there
 * @param fitness how well the node is built for the pod's topology mode; comes before the score
 * @param score higher is better; compared only with the same pod's on other nodes, at the same look
 */
public record Assessed(Standing node, Footprint footprint, int fitness, double score) {
  /** The same with less score, by what the pod takes of cards and their model's toll. */
  Assessed less(Map<String, Double> tolls) {
    if (tolls.isEmpty()) {
      return this;
    }
    double toll = 0;
    for (NodeView.Card card : node.cards()) {
      Use use = footprint.cards().get(card.device().uuid());
      if (use != null) {
        toll += tolls.getOrDefault(card.device().type(), 0.0) * Room.share(card.total(), use);
      }
    }
    return toll == 0 ? this : new Assessed(node, footprint, fitness, score - toll);
  }
}
