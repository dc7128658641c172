package io.vgpu.e2e.scale;

import io.vgpu.e2e.cluster.ClusterException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/** Does something over and over again on a thread of its own, until it is closed. */
final class Repeated implements AutoCloseable {
  private static final long PAUSE_NANOS = 100_000_000;

  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private volatile boolean ended;
  private final Future<?> work;

  private Repeated(Runnable action) {
    this.work =
        thread.submit(
            () -> {
              while (!ended) {
                action.run();
                LockSupport.parkNanos(PAUSE_NANOS);
              }
            });
  }

  static Repeated begin(Runnable action) {
    return new Repeated(action);
  }

  /** Waits for the last time to end; what failed is thrown. */
  @Override
  public void close() {
    ended = true;
    thread.shutdown();
    try {
      work.get();
    } catch (ExecutionException e) {
      throw new ClusterException("what was done beside failed: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted", e);
    }
  }
}
