package io.vgpu.control.cluster;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All nodes at one moment; readers take one and never see it change. Any thread. */
public final class ClusterSnapshot {
  static final ClusterSnapshot EMPTY = new ClusterSnapshot(Map.of(), new NodeView[0]);

  private final Map<String, Integer> index;
  private final NodeView[] nodes;

  /** {@code index} and {@code nodes} are handed over: nobody changes them afterwards. */
  ClusterSnapshot(Map<String, Integer> index, NodeView[] nodes) {
    this.index = index;
    this.nodes = nodes;
  }

  /** The node of that name, if the watch has shown it. */
  public Optional<NodeView> node(String name) {
    Integer at = index.get(name);
    return at == null ? Optional.empty() : Optional.of(nodes[at]);
  }

  /** Every node's name. */
  public Collection<String> names() {
    return Collections.unmodifiableSet(index.keySet());
  }

  /** Every node, in no order that means anything. */
  public List<NodeView> all() {
    return List.of(nodes);
  }

  /** How many nodes there are. */
  public int size() {
    return nodes.length;
  }

  /** A copy in which some nodes are other ones; the names stay. */
  ClusterSnapshot with(Map<String, NodeView> changed) {
    NodeView[] copy = nodes.clone();
    changed.forEach(
        (name, view) -> {
          Integer at = index.get(name);
          if (at != null) {
            copy[at] = view;
          }
        });
    return new ClusterSnapshot(index, copy);
  }
}
