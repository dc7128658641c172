package io.vgpu.control.cluster;

import java.util.AbstractList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All nodes at one moment, in the order of their names; readers take one and never see it change.
 * Any thread.
 */
public final class ClusterSnapshot {
  static final ClusterSnapshot EMPTY =
      new ClusterSnapshot(new NameIndex(new String[0]), new NodeView[0]);

  private final NameIndex index;
  private final NodeView[] nodes;

  /** {@code nodes}: by the places of {@code index}; handed over, nobody changes it afterwards. */
  ClusterSnapshot(NameIndex index, NodeView[] nodes) {
    this.index = index;
    this.nodes = nodes;
  }

  /** The node of that name, if the watch has shown it. */
  public Optional<NodeView> node(String name) {
    int at = index.find(name);
    return at < 0 ? Optional.empty() : Optional.of(nodes[at]);
  }

  /** The places of names, the same object as long as there are the same nodes. */
  public NameIndex index() {
    return index;
  }

  /** The node at a place. */
  public NodeView at(int place) {
    return nodes[place];
  }

  /** Every node's name. */
  public Collection<String> names() {
    return new AbstractList<>() {
      @Override
      public String get(int at) {
        return index.name(at);
      }

      @Override
      public int size() {
        return index.size();
      }
    };
  }

  /** Every node, by name. */
  public List<NodeView> all() {
    return new AbstractList<>() {
      @Override
      public NodeView get(int at) {
        return nodes[at];
      }

      @Override
      public int size() {
        return nodes.length;
      }
    };
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
          int at = index.find(name);
          if (at >= 0) {
            copy[at] = view;
          }
        });
    return new ClusterSnapshot(index, copy);
  }
}
