package io.vgpu.control.cluster;

import java.util.List;

/**
 * A node as it stands for one pod: what others have in flight counts, what the pod itself has does
 * not. Immutable; any thread.
 *
 * @param cards by place in the node's list
 * @param host CPU and memory left; negative where the node promises more than it has
 */
public record Standing(NodeView node, List<NodeView.Card> cards, Host host) {
  public Standing {
    cards = List.copyOf(cards);
  }

  /** With more in use. */
  public Standing with(Footprint more) {
    return new Standing(node, NodeView.charged(cards, more), host.minus(more.host()));
  }
}
