package io.vgpu.control.reschedule;

import java.time.Duration;

/** Pauses that double from a first to a longest one. Pure. */
record BackOff(Duration first, Duration longest) {
  /** The pause before try {@code number}: none before 0, {@code first} before 1, then doubling. */
  Duration before(int number) {
    if (number <= 0) {
      return Duration.ZERO;
    }
    int doublings = Math.min(number - 1, 30);
    Duration pause = first.multipliedBy(1L << doublings);
    return pause.compareTo(longest) > 0 ? longest : pause;
  }
}
