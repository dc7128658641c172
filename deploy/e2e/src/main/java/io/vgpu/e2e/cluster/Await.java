package io.vgpu.e2e.cluster;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Bounded waits for things outside this JVM that tell nobody when they change (a port that opens, a
 * mount that goes). Polls every 20 ms on the caller's thread; {@link ClusterException} names what
 * did not come in time.
 */
public final class Await {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private Await() {}

  /** Returns once the condition holds; throws when the limit has passed. */
  public static void until(String what, Duration limit, BooleanSupplier condition) {
    if (!holdsWithin(limit, condition)) {
      throw new ClusterException("waited " + limit.toMillis() + " ms in vain for " + what);
    }
  }

  /** Returns the first present value; throws when the limit has passed. */
  public static <T> T present(String what, Duration limit, Supplier<Optional<T>> source) {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      Optional<T> value = source.get();
      if (value.isPresent()) {
        return value.get();
      }
      if (System.nanoTime() - end >= 0) {
        throw new ClusterException("waited " + limit.toMillis() + " ms in vain for " + what);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** Whether the condition came to hold before the limit passed. */
  public static boolean holdsWithin(Duration limit, BooleanSupplier condition) {
    long end = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    return true;
  }
}
