package io.vgpu.control.packing;

import io.vgpu.control.cluster.NodeView;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the cluster is made of, as far as scores are relative to it. Immutable.
 *
 * @param cards usable cards of each model
 * @param largestCpu milli-CPU of the largest node that has cards
 * @param largestNode thousandths of cards of the node that has most
 */
public record ClusterShape(Map<String, Integer> cards, int largestCpu, int largestNode) {
  public static final ClusterShape EMPTY = new ClusterShape(Map.of(), 128_000, 8 * Room.CARD);

  public ClusterShape {
    cards = Map.copyOf(cards);
  }

  /** Of all nodes there are; as long as none has a card, of a usual size. */
  public static ClusterShape of(Iterable<NodeView> nodes) {
    Map<String, Integer> cards = new TreeMap<>();
    int cpu = 0;
    int most = 0;
    for (NodeView node : nodes) {
      int usable = 0;
      for (NodeView.Card c : node.cards()) {
        if (c.device().schedulable()) {
          usable++;
          cards.merge(c.device().type(), 1, Integer::sum);
        }
      }
      if (usable > 0) {
        cpu = (int) Math.max(cpu, Math.min(Integer.MAX_VALUE / 4, node.hostTotal().cpuMilli()));
        most = Math.max(most, usable * Room.CARD);
      }
    }
    // relative to nothing, an idle card would be as full as any node without one
    return cards.isEmpty() ? EMPTY : new ClusterShape(cards, cpu, most);
  }

  /** All usable cards. */
  public int allCards() {
    return cards.values().stream().mapToInt(Integer::intValue).sum();
  }
}
