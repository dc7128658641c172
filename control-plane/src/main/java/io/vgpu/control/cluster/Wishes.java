package io.vgpu.control.cluster;

import io.vgpu.claim.Names;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.runtime.Nearest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a pod's annotations say about where it wants to be (control-plane.md 2.2, 2.3).
 *
 * @param crossPod wants to be where its siblings are on their nodes
 * @param invalid texts about values that nobody knows; those count as none
 */
public record Wishes(
    PlacementPolicy nodePolicy,
    PlacementPolicy devicePolicy,
    TopologyMode topology,
    MemoryPolicy memory,
    NameFilter types,
    NameFilter uuids,
    boolean crossPod,
    List<String> invalid) {
  public static final Wishes NONE =
      new Wishes(
          PlacementPolicy.NONE,
          PlacementPolicy.NONE,
          TopologyMode.NONE,
          MemoryPolicy.ANY,
          NameFilter.NONE,
          NameFilter.NONE,
          false,
          List.of());

  private static final int MOST_UNKNOWN = 3;

  public Wishes {
    invalid = List.copyOf(invalid);
  }

  /** Reads a pod's annotations; never fails. */
  public static Wishes of(Map<String, String> annotations, Names names) {
    List<String> invalid = new ArrayList<>();
    String node = annotations.getOrDefault(names.nodeSchedulerPolicy(), "");
    String device = annotations.getOrDefault(names.deviceSchedulerPolicy(), "");
    String topology = annotations.getOrDefault(names.deviceTopologyMode(), "");
    unknown(annotations, names, invalid);
    return new Wishes(
        known(PlacementPolicy.parse(node), PlacementPolicy.NONE)
            .orElse("unsupported node scheduling policy", node, invalid),
        known(PlacementPolicy.parse(device), PlacementPolicy.NONE)
            .orElse("unsupported device scheduling policy", device, invalid),
        known(TopologyMode.parse(topology), TopologyMode.NONE)
            .orElse("unsupported device topology mode", topology, invalid),
        MemoryPolicy.parse(annotations.getOrDefault(names.memorySchedulerPolicy(), "")),
        NameFilter.of(
            annotations.get(names.includeGpuType()), annotations.get(names.excludeGpuType())),
        NameFilter.of(
            annotations.get(names.includeGpuUuid()), annotations.get(names.excludeGpuUuid())),
        "true".equalsIgnoreCase(annotations.getOrDefault(names.crossPodTopology(), "").strip()),
        invalid);
  }

  /** The same with another node policy. */
  public Wishes ranked(PlacementPolicy policy) {
    return new Wishes(policy, devicePolicy, topology, memory, types, uuids, crossPod, invalid);
  }

  /** A slip of the hand in a key is a wish that nobody hears: it is told. */
  private static void unknown(Map<String, String> annotations, Names names, List<String> invalid) {
    String ours = names.domain() + "/";
    if (annotations.keySet().stream().noneMatch(k -> k.startsWith(ours))) {
      return;
    }
    Set<String> known = names.podAnnotations();
    annotations.keySet().stream()
        .filter(k -> k.startsWith(ours) && !known.contains(k))
        .sorted()
        .limit(MOST_UNKNOWN)
        .forEach(
            k ->
                invalid.add(
                    "unknown annotation \""
                        + k
                        + "\""
                        + Nearest.of(k, known).map(n -> " (nearest known: " + n + ")").orElse("")));
  }

  private static <T> Known<T> known(Optional<T> value, T none) {
    return new Known<>(value, none);
  }

  private record Known<T>(Optional<T> value, T none) {
    T orElse(String complaint, String text, List<String> invalid) {
      if (value.isEmpty()) {
        String shown = text.length() <= 63 ? text : text.substring(0, 63) + "…";
        invalid.add(complaint + " \"" + shown + "\"");
      }
      return value.orElse(none);
    }
  }
}
