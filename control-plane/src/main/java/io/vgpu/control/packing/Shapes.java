package io.vgpu.control.packing;

import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;

/**
 * What share of a card pods ask for in a cluster whose cards differ: that of a typical card.
 *
 * @param cardMemoryMiB of a typical card; 0 where there is none
 * @param memoryFactor MiB in one unit of what pods ask for
 */
public record Shapes(long cardMemoryMiB, int memoryFactor) {

  /** Of a cluster: the mean card, the first node's factor. */
  public static Shapes of(Iterable<NodeView> nodes) {
    long memory = 0;
    long cards = 0;
    int factor = 0;
    for (NodeView node : nodes) {
      if (node.offer() instanceof NodeOffer.Offered offered) {
        factor = factor == 0 ? offered.config().memoryFactor() : factor;
        for (NodeView.Card card : node.cards()) {
          memory += card.total().memory();
          cards++;
        }
      }
    }
    return new Shapes(cards == 0 ? 0 : memory / cards, Math.max(1, factor));
  }

  /** What a pod asks for. */
  public Shape of(PodRequest pod) {
    return Kind.of(pod, memoryFactor).on(cardMemoryMiB);
  }
}
