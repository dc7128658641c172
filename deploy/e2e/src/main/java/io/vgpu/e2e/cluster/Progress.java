package io.vgpu.e2e.cluster;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Prints what happened with the seconds since the beginning, so that a slow step can be seen while
 * it is slow.
 */
public final class Progress {
  private final PrintStream out;
  private final LongSupplier nanoTime;
  private final long began;

  public Progress(PrintStream out, LongSupplier nanoTime) {
    this.out = out;
    this.nanoTime = nanoTime;
    this.began = nanoTime.getAsLong();
  }

  public static Progress to(PrintStream out) {
    return new Progress(out, System::nanoTime);
  }

  public void step(String what) {
    out.printf(Locale.ROOT, "  %5.1f s  %s%n", seconds(), what);
    out.flush();
  }

  public double seconds() {
    return (nanoTime.getAsLong() - began) / 1e9;
  }
}
