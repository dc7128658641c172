package io.vgpu.e2e.burst;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/**
 * The time in which a kubelet that has lost its checkpoint knows no device plugin: until one
 * registers, it drops requests for devices silently (identity-facts.md 1, rule 2). Pure.
 *
 * @param fromMs the loss
 * @param untilMs the next registration; {@link Long#MAX_VALUE} when there was none
 */
record Gap(long fromMs, long untilMs) {
  /** From the kubelet's decision to the container's first sign, on a busy machine. */
  private static final long START_TAKES_MS = 15_000;

  private static final String REGISTERED = "registered [resource: ";

  /**
   * Finds the end of the gap in the agent's log, whose lines begin with the time.
   *
   * @param beganAt the moment that all milliseconds are counted from
   */
  static Gap since(long lostAtMs, String agentLog, Instant beganAt) {
    long until =
        agentLog
            .lines()
            .filter(l -> l.contains(REGISTERED))
            .flatMap(l -> time(l).stream())
            .mapToLong(at -> at.toEpochMilli() - beganAt.toEpochMilli())
            .filter(ms -> ms >= lostAtMs)
            .min()
            .orElse(Long.MAX_VALUE);
    return new Gap(lostAtMs, until);
  }

  private static Optional<Instant> time(String line) {
    try {
      return Optional.of(Instant.parse(line.substring(0, Math.max(0, line.indexOf(' ')))));
    } catch (DateTimeParseException e) {
      return Optional.empty(); // the rest of a message of several lines
    }
  }

  /** Whether a container that was first seen then may have been started without a plugin. */
  boolean mayHaveStarted(long seenAtMs) {
    return seenAtMs >= fromMs && seenAtMs - START_TAKES_MS <= untilMs;
  }

  /** Whether the devices of a pod that was bound then may have been lost, or never asked for. */
  boolean mayLackIds(long boundAtMs) {
    return boundAtMs <= untilMs;
  }

  long lengthMs() {
    return untilMs - fromMs;
  }
}
