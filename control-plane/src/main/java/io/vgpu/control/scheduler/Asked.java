package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.NodeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that a request asks about, each once, in its order, as one snapshot shows them. Nodes
 * have positions from 0 here. Immutable; any thread.
 *
 * @param views null where the watch does not know the name
 * @param byName the positions of the known ones in the order of their names
 */
record Asked(NameList names, @Nullable NodeView[] views, int[] byName) {

  /** Looked up by name. */
  static Asked of(NameList names, ClusterSnapshot snapshot) {
    int[] position = new int[snapshot.size()];
    int[] kept = new int[names.size()];
    @Nullable NodeView[] views = new NodeView[names.size()];
    Set<String> unknown = new HashSet<>();
    int count = 0;
    for (int i = 0; i < kept.length; i++) {
      int place = names.find(i, snapshot.index());
      if (place < 0 ? unknown.add(names.get(i)) : position[place] == 0) {
        if (place >= 0) {
          views[count] = snapshot.at(place);
          position[place] = count + 1;
        }
        kept[count++] = i;
      }
    }
    boolean all = count == kept.length;
    return new Asked(
        all ? names : names.only(kept, count),
        all ? views : Arrays.copyOf(views, count),
        known(position, count - unknown.size()));
  }

  private static int[] known(int[] position, int count) {
    int[] known = new int[count];
    int next = 0;
    for (int p : position) {
      if (p > 0) {
        known[next++] = p - 1;
      }
    }
    return known;
  }

  /** Of nodes in full. */
  static Asked of(Map<String, NodeView> nodes) {
    List<String> names = new ArrayList<>(nodes.keySet());
    @Nullable NodeView[] views = nodes.values().toArray(new NodeView[0]);
    int[] byName =
        java.util.stream.IntStream.range(0, views.length)
            .boxed()
            .sorted(Comparator.comparing(names::get))
            .mapToInt(i -> i)
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
