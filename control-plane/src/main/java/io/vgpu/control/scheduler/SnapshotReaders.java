package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vgpu.runtime.LaneFullException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that decode requests and read snapshots, so that no event loop is held up
 * (architecture.md 5). At most {@value #QUEUE} wait; more are refused at once.
 */
final class SnapshotReaders {
  private static final int QUEUE = 512;

  private final String name;
  private final WorkerExecutor executor;
  private final AtomicInteger waiting = new AtomicInteger();

  /** {@code threads}: 1 reads one request after the other. */
  SnapshotReaders(Vertx vertx, String name, int threads) {
    this.name = name;
    this.executor = vertx.createSharedWorkerExecutor(name, threads, 10, TimeUnit.SECONDS);
  }

  /** Runs {@code work}, in no order; fails with {@link LaneFullException} when too much waits. */
  <T> Future<T> read(Callable<T> work) {
    if (waiting.incrementAndGet() > QUEUE) {
      waiting.decrementAndGet();
      return Future.failedFuture(new LaneFullException(name, QUEUE));
    }
    return executor.executeBlocking(
        () -> {
          try {
            return work.call();
          } finally {
            waiting.decrementAndGet();
          }
        },
        false);
  }
}
