package io.vgpu.agent.registration;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** When a kind of refusal is worth a line: at most one a minute, whatever tenants do (13-36). */
final class Seldom {
  private static final long PAUSE_NS = Duration.ofMinutes(1).toNanos();

  private final Map<Verdict, Long> said = new EnumMap<>(Verdict.class);

  /** Whether it is time for a line; then it is the next minute's. One thread. */
  boolean due(Verdict verdict, long nowNs) {
    Long before = said.get(verdict);
    if (verdict == Verdict.REGISTERED || (before != null && nowNs - before < PAUSE_NS)) {
      return false;
    }
    said.put(verdict, nowNs);
    return true;
  }
}
