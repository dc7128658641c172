package io.vgpu.control.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Pods between prioritize and bind, each held on the node that it will most likely be bound to, so
 * that later pods do not plan on the same cards (D1). One hold a pod, at most {@link #MOST}, each
 * for at most {@link #LIFE_NANOS}. Lane {@code scheduler} only.
 */
final class SoftHolds {
  static final long LIFE_NANOS = 2_000_000_000L;
  static final int MOST = 1024;

  /** A hold and its node. */
  record Hold(String node, InFlight inFlight) {}

  private final Map<String, Hold> byPod = new LinkedHashMap<>();

  /** Holds; an earlier hold of the pod ends. Returns the node whose hold ended, if any. */
  List<String> put(String podUid, String node, Footprint footprint, long nowNanos) {
    List<String> touched = new ArrayList<>();
    drop(podUid).ifPresent(touched::add);
    if (byPod.size() >= MOST) {
      // the oldest is the likeliest to have ended anyway
      drop(byPod.keySet().iterator().next()).ifPresent(touched::add);
    }
    byPod.put(podUid, new Hold(node, new InFlight(podUid, footprint, true, nowNanos + LIFE_NANOS)));
    touched.add(node);
    return touched;
  }

  /** Ends the pod's hold; the node that it was on. */
  Optional<String> drop(String podUid) {
    Hold hold = byPod.remove(podUid);
    return hold == null ? Optional.empty() : Optional.of(hold.node());
  }

  /** Ends what has outlived its time; the nodes touched, by pod. */
  Map<String, String> expire(long nowNanos) {
    Map<String, String> touched = new HashMap<>();
    byPod
        .entrySet()
        .removeIf(
            e -> {
              boolean over = e.getValue().inFlight().untilNanos() - nowNanos <= 0;
              if (over) {
                touched.put(e.getKey(), e.getValue().node());
              }
              return over;
            });
    return touched;
  }

  /** The holds on one node. */
  List<InFlight> on(String node) {
    return byPod.values().stream().filter(h -> h.node().equals(node)).map(Hold::inFlight).toList();
  }
}
