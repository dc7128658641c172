package io.vgpu.e2e.burst;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Whose device ids stay missing in the kubelet's answers. A container that has just ended still
 * runs by the API's word, which comes a moment later; so it counts only when answer after answer
 * lacks its ids for longer than that. One thread.
 */
final class MissingIds {
  private static final long API_LAG_MS = 2_000;

  private final Map<DeviceAudit.Running, Long> since = new HashMap<>();
  private final Set<DeviceAudit.Running> confirmed = new LinkedHashSet<>();

  /** One answer: these ran before the kubelet was asked, and their ids were not in it. */
  void answer(Collection<DeviceAudit.Running> missing, long atMs) {
    since.keySet().retainAll(missing);
    for (DeviceAudit.Running running : missing) {
      Long first = since.putIfAbsent(running, atMs);
      if (first != null && atMs - first >= API_LAG_MS) {
        confirmed.add(running);
      }
    }
  }

  Set<DeviceAudit.Running> confirmed() {
    return Set.copyOf(confirmed);
  }
}
