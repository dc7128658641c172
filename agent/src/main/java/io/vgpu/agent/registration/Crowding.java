package io.vgpu.agent.registration;

import java.util.HashMap;
import java.util.Map;

/**
 * How many connections there are, in all and by pod, so that no pod can keep the others out. One
 * thread.
 */
final class Crowding {
  static final int IN_ALL = 256;
  static final int BY_POD = 8;

  private int all;
  private final Map<String, Integer> byPod = new HashMap<>();

  /** Whether one more may stay; it must then {@link #leave}. */
  boolean enter() {
    if (all >= IN_ALL) {
      return false;
    }
    all++;
    return true;
  }

  void leave() {
    all--;
  }

  /** Whether one more of this pod may stay; it must then {@link #leave(String)}. */
  boolean enter(String pod) {
    int now = byPod.merge(pod, 1, Integer::sum);
    if (now > BY_POD) {
      leave(pod);
      return false;
    }
    return true;
  }

  void leave(String pod) {
    byPod.computeIfPresent(pod, (p, n) -> n > 1 ? n - 1 : null);
  }

  int pods() {
    return byPod.size();
  }
}
