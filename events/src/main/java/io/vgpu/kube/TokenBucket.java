package io.vgpu.kube;

import static io.vgpu.model.Checks.check;

import java.util.function.LongSupplier;

/** A rate with a burst: {@code qps} tokens a second, at most {@code burst} saved up. Any thread. */
public final class TokenBucket {
  private final double perNano;
  private final double burst;
  private final LongSupplier nanoTime;
  private double tokens;
  private long last;

  /** {@code nanoTime}: a monotonic clock in nanoseconds. */
  public TokenBucket(double qps, int burst, LongSupplier nanoTime) {
    check(
        qps > 0 && burst > 0,
        "rate %s per second with burst %d: both must be positive",
        qps,
        burst);
    this.perNano = qps / 1e9;
    this.burst = burst;
    this.nanoTime = nanoTime;
    this.tokens = burst;
    this.last = nanoTime.getAsLong();
  }

  /** Takes a token if there is one. */
  public synchronized boolean tryTake() {
    long now = nanoTime.getAsLong();
    tokens = Math.min(burst, tokens + (now - last) * perNano);
    last = now;
    if (tokens < 1) {
      return false;
    }
    tokens -= 1;
    return true;
  }
}
