package io.vgpu.agent.health;

import static io.vgpu.model.Checks.check;

import java.time.Duration;

/**
 * The times of {@link CardHealth}.
 *
 * @param grace how long a card may be odd before it is taken out
 * @param quiet without trouble before an unhealthy one is tried again
 * @param probe answering before it is given out again; doubled with each relapse
 */
public record HealthRules(Duration grace, Duration quiet, Duration probe) {
  private static final Duration LONGEST = Duration.ofHours(1); // before DEFAULT, which is checked
  public static final HealthRules DEFAULT =
      new HealthRules(Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(30));

  public HealthRules {
    bounded("--health-grace", grace);
    bounded("--health-quiet", quiet);
    bounded("--health-probe", probe);
  }

  private static void bounded(String flag, Duration value) {
    check(
        !value.isNegative() && value.compareTo(LONGEST) <= 0,
        "%s: %s must be 0 to 1h",
        flag,
        value);
  }

  /** How long the {@code fall}th fall in a row is probed, in ns; at most an hour. */
  long probeNanos(int fall) {
    int doublings = Math.min(Math.max(fall - 1, 0), 20);
    return Math.min(LONGEST.toNanos(), probe.toNanos() << doublings);
  }

  /** Healthy for so long that earlier falls no longer count, in ns. */
  long forgivenNanos() {
    return LONGEST.toNanos();
  }
}
