package io.vgpu.agent.deviceplugin;

import io.vertx.core.Future;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * How long a call may still take. The kubelet sets no limit, and while one call blocks it admits
 * nothing else on the node, so we set one ourselves (D3).
 */
record Deadline(long end, LongSupplier nanoTime) {
  static Deadline in(Duration time, LongSupplier nanoTime) {
    return new Deadline(nanoTime.getAsLong() + time.toNanos(), nanoTime);
  }

  /** What is left, at least a millisecond, so that it can always be handed on. */
  Duration left() {
    return Duration.ofNanos(Math.max(1_000_000, end - nanoTime.getAsLong()));
  }

  /** What is left, at most {@code most}. */
  Duration atMost(Duration most) {
    Duration left = left();
    return left.compareTo(most) < 0 ? left : most;
  }

  boolean passed() {
    return end - nanoTime.getAsLong() <= 0;
  }

  /** Waits on a virtual thread; a failure or the end of time is a refusal for {@code reason}. */
  <T> Outcome<T> await(Future<T> future, Reason reason, String what) {
    try {
      return Outcome.given(
          future
              .toCompletionStage()
              .toCompletableFuture()
              .get(left().toNanos(), TimeUnit.NANOSECONDS));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return Outcome.refused(reason, what + ": " + cause);
    } catch (TimeoutException e) {
      return Outcome.refused(reason, what + " was not done in time");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Outcome.refused(reason, what + " was interrupted");
    }
  }
}
