package io.vgpu.agent.measure;

import java.time.Duration;

/**
 * Whether a card's own figure and the sum of its containers' disagree (D8): more than 20 points at
 * every look of 5 s begins it, less than 15 at every look of 5 s ends it, so that a figure at the
 * border does not ring. One card, one thread at a time.
 */
final class LoadCheck {
  static final int BEGINS_ABOVE_PERMILLE = 200;
  static final int ENDS_BELOW_PERMILLE = 150;
  static final Duration LASTING = Duration.ofSeconds(5);

  private boolean unaccounted;
  private boolean turning;
  private long turningSince;

  /** One look; returns whether it is news. */
  boolean look(long nowNs, int cardPermille, int containersPermille) {
    int apart = Math.abs(cardPermille - containersPermille);
    boolean otherwise = unaccounted ? apart < ENDS_BELOW_PERMILLE : apart > BEGINS_ABOVE_PERMILLE;
    if (!otherwise) {
      turning = false;
      return false;
    }
    if (!turning) {
      turning = true;
      turningSince = nowNs;
    }
    if (nowNs - turningSince < LASTING.toNanos()) {
      return false;
    }
    turning = false;
    unaccounted = !unaccounted;
    return true;
  }

  /** The card has no figure now: what is known stays, and no time passes. */
  void pause() {
    turning = false;
  }

  boolean unaccounted() {
    return unaccounted;
  }
}
