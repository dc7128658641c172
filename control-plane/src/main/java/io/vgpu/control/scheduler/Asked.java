package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.NodeView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that a request asks about, each once, in its order, as one snapshot shows them. Nodes
 * have positions from 0 here. Immutable; any thread.
 *
 * @param views null where the watch does not know the name
 * @param byName position + 1 of the known ones in the order of their names, 0 where nobody stands
 */
record Asked(NameList names, @Nullable NodeView[] views, int[] byName) {

  /** Looked up by name. */
  static Asked of(NameList names, ClusterSnapshot snapshot) {
    int[] byName = new int[snapshot.size()];
    @Nullable NodeView[] views = new NodeView[names.size()];
    Set<String> unknown = new HashSet<>();
    for (int i = 0; i < views.length; i++) {
      int place = names.find(i, snapshot.index());
      if (place < 0 ? !unknown.add(names.get(i)) : byName[place] != 0) {
        return of(once(names), snapshot);
      }
      if (place >= 0) {
        views[i] = snapshot.at(place);
        byName[place] = i + 1;
      }
    }
    return new Asked(names, views, byName);
  }

  /** The same without those that stood before. */
  private static NameList once(NameList names) {
    Set<String> seen = new HashSet<>();
    return names.only(
        IntStream.range(0, names.size()).filter(i -> seen.add(names.get(i))).toArray());
  }

  /** Of nodes in full. */
  static Asked of(Map<String, NodeView> nodes) {
    List<String> names = new ArrayList<>(nodes.keySet());
    @Nullable NodeView[] views = nodes.values().toArray(new NodeView[0]);
    int[] byName =
        IntStream.range(0, views.length)
            .boxed()
            .sorted(Comparator.comparing(names::get))
            .mapToInt(i -> i + 1)
            .toArray();
    return new Asked(NameList.of(names), views, byName);
  }

  int size() {
    return views.length;
  }

  /** A node that is known. */
  NodeView known(int position) {
    return Objects.requireNonNull(views[position], "a known node");
  }

  /** The node of that name; null where there is none, or nothing is known of it. */
  @Nullable NodeView find(String name) {
    for (NodeView view : views) {
      if (view != null && view.name().equals(name)) {
        return view;
      }
    }
    return null;
  }
}
