package io.vgpu.agent.kubelet;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A pod in the kubelet's pod-resources answer: its app containers and sidecars with the device ids
 * of our resource. Sequential init containers are never in it, and neither is the UID.
 */
public record ListedPod(String namespace, String name, Map<String, Set<String>> devices) {
  public ListedPod {
    Map<String, Set<String>> copy = new LinkedHashMap<>();
    devices.forEach((container, ids) -> copy.put(container, Set.copyOf(new LinkedHashSet<>(ids))));
    devices = Map.copyOf(copy);
  }

  /** The ids of one container; empty also when it is not listed. */
  public Set<String> of(String container) {
    return devices.getOrDefault(container, Set.of());
  }
}
