package io.vgpu.agent.deviceplugin;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A look at the node that must be made while the kubelet cannot ask: it begins with a registration
 * and ends before the first list is sent, because until then the kubelet has no device to ask for.
 * So it costs no time of its own in the gap in which nobody serves (D22). Any thread.
 */
final class FirstLook {
  private static final Logger log = LoggerFactory.getLogger(FirstLook.class);

  private final Runnable look;
  private final Duration limit;
  private final Executor threads;
  private volatile CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

  /** {@code look} bounds itself; {@code limit}: no list waits longer, whatever happens. */
  FirstLook(Runnable look, Duration limit, Executor threads) {
    this.look = look;
    this.limit = limit;
    this.threads = threads;
  }

  /** Begins another one. */
  void begin() {
    last = CompletableFuture.runAsync(look, threads);
  }

  /** Returns when the last one has ended. */
  void await() {
    try {
      last.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      log.warn("the node is listed before it was looked at [limit: {}]", limit);
    } catch (ExecutionException e) {
      log.error("the node was not looked at before it is listed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
