package io.vgpu.agent.measure;

import java.time.Duration;
import java.util.function.LongSupplier;

/** The last look, for any thread. A look that is too old counts as none: nothing stale is shown. */
public final class Measurements {
  /** Longer than several looks; shorter than what a reader takes for now. */
  static final Duration STALE = Duration.ofSeconds(5);

  private final LongSupplier nanoTime;
  private volatile Measured last = Measured.NOTHING;

  /** {@code nanoTime}: the clock by which looks are stamped. */
  public Measurements(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** What was found last, or nothing. */
  public Measured last() {
    Measured found = last;
    return nanoTime.getAsLong() - found.atNanos() > STALE.toNanos() ? Measured.NOTHING : found;
  }

  /** A new look. */
  public void put(Measured found) {
    last = found;
  }
}
