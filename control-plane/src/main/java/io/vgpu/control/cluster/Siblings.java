package io.vgpu.control.cluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the pods of each gang and of each owner are, so that finding a pod's siblings costs what
 * they are and not what the cluster is. Lane {@code scheduler} writes, any thread reads; a reader
 * may see a change a moment before the snapshot shows it, which matters to nobody: siblings only
 * order what fits.
 */
public final class Siblings {
  private final Map<String, Map<String, SiblingPlace>> byGroup = new ConcurrentHashMap<>();
  private final Map<String, PodTraits> placed = new HashMap<>();

  /** All others of the pod's gang, else of its owner, that have cards. Any thread. */
  public List<SiblingPlace> of(PodRequest pod) {
    String group = pod.traits().siblings();
    return group.isEmpty()
        ? List.of()
        : byGroup.getOrDefault(group, Map.of()).entrySet().stream()
            .filter(e -> !e.getKey().equals(pod.pod().uid()))
            .map(Map.Entry::getValue)
            .toList();
  }

  /** The pod has these cards, or is about to. */
  void put(String uid, PodTraits traits, String node, Footprint footprint) {
    drop(uid);
    if (!traits.groups().isEmpty() && !footprint.cards().isEmpty()) {
      placed.put(uid, traits);
      SiblingPlace place = new SiblingPlace(node, List.copyOf(footprint.cards().keySet()));
      traits
          .groups()
          .forEach(
              group ->
                  byGroup.computeIfAbsent(group, g -> new ConcurrentHashMap<>()).put(uid, place));
    }
  }

  /** The pod has none. */
  void drop(String uid) {
    PodTraits traits = placed.remove(uid);
    if (traits != null) {
      traits
          .groups()
          .forEach(
              group ->
                  byGroup.computeIfPresent(
                      group,
                      (g, pods) -> {
                        pods.remove(uid);
                        return pods.isEmpty() ? null : pods;
                      }));
    }
  }
}
