package io.vgpu.e2e.burst;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Whose device ids stay missing in the kubelet's answers. A container that has just ended still
 * runs by the API's word, which comes a moment later; so it counts only when answer after answer
 * lacks its ids for longer than that. No answer in between (the kubelet may have been ended) begins
 * anew: after its return the API hears late of all that ended meanwhile. One thread.
 */
final class MissingIds {
  private static final Duration API_LAG = Duration.ofSeconds(2);

  private final Map<DeviceAudit.Running, Instant> since = new HashMap<>();
  private final Map<DeviceAudit.Running, Instant> confirmed = new LinkedHashMap<>();

  /** One answer: these ran before the kubelet was asked, and their ids were not in it. */
  void answer(Collection<DeviceAudit.Running> missing, Instant at) {
    since.keySet().retainAll(missing);
    for (DeviceAudit.Running running : missing) {
      Instant first = since.putIfAbsent(running, at);
      if (first != null && !at.isBefore(first.plus(API_LAG))) {
        confirmed.putIfAbsent(running, first);
      }
    }
  }

  void noAnswer() {
    since.clear();
  }

  /** Each with the first answer of the row that lacked its ids. */
  Map<DeviceAudit.Running, Instant> confirmed() {
    return Map.copyOf(confirmed);
  }
}
