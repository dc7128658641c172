package io.vgpu.control.reschedule;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Gives the {@link Rescheduler} its thread: a virtual one, because evict, wait, make again is a
 * sequence of calls that block. Works when something is heard and when a pause has ended.
 */
public final class RescheduleVerticle extends VerticleBase {
  /** After a fault of ours, which the context's handler logs: go on all the same. */
  private static final Duration AFTER_FAULT = Duration.ofSeconds(5);

  private static final Duration SHORTEST = Duration.ofMillis(10);

  private final Rescheduler rescheduler;
  private final AtomicBoolean woken = new AtomicBoolean();
  private final CompletableFuture<Context> home = new CompletableFuture<>();
  private long timer = -1;

  public RescheduleVerticle(Rescheduler rescheduler) {
    this.rescheduler = rescheduler;
  }

  @Override
  public Future<?> start() {
    home.complete(context);
    wake();
    return Future.succeededFuture();
  }

  /** Hears of a pod. Any thread. */
  public void offer(FailedPod pod) {
    rescheduler.offer(pod);
    wake();
  }

  private void wake() {
    if (woken.compareAndSet(false, true)) {
      CompletableFuture<Void> _ = home.thenAccept(c -> c.runOnContext(v -> work()));
    }
  }

  private void work() {
    woken.set(false);
    vertx.cancelTimer(timer);
    Optional<Duration> next = Optional.of(AFTER_FAULT);
    try {
      next = rescheduler.work();
    } finally {
      next.map(pause -> pause.compareTo(SHORTEST) < 0 ? SHORTEST : pause)
          .ifPresent(pause -> timer = vertx.setTimer(pause.toMillis(), t -> wake()));
    }
  }
}
