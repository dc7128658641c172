package io.vgpu.control.packing;

import io.vgpu.control.cluster.NodeView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is left of the cards of each model in the whole cluster, in thousandths. Adds up only what
 * has changed since it was asked last. Any thread.
 */
public final class Left {
  private final Map<String, long[]> milli = new HashMap<>();
  private List<NodeView> seen = List.of();
  private Map<String, Long> answer = Map.of();

  /** {@code nodes}: all there are, unchanged ones the same objects in the same places. */
  public synchronized Map<String, Long> of(List<NodeView> nodes) {
    if (nodes.size() != seen.size()) {
      milli.clear();
      nodes.forEach(n -> add(n, 1));
      answer = Map.of();
    } else {
      for (int i = 0; i < nodes.size(); i++) {
        if (nodes.get(i) != seen.get(i)) {
          add(seen.get(i), -1);
          add(nodes.get(i), 1);
          answer = Map.of();
        }
      }
    }
    seen = nodes;
    if (answer.isEmpty()) {
      Map<String, Long> sums = new HashMap<>();
      milli.forEach((model, sum) -> sums.put(model, sum[0]));
      answer = Map.copyOf(sums);
    }
    return answer;
  }

  private void add(NodeView node, int sign) {
    // commits on their way count, courtesies do not
    for (NodeView.Card card : node.standing("", 0, false).cards()) {
      if (card.device().schedulable()) {
        milli.computeIfAbsent(card.device().type(), m -> new long[1])[0] +=
            (long) sign * Room.left(card.total(), card.used());
      }
    }
  }
}
