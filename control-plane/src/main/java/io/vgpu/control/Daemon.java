package io.vgpu.control;

import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.runtime.Shutdown;
import io.vgpu.runtime.UsageException;
import io.vgpu.runtime.Version;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a command that serves until it is told to end: deploys in the order of the calls, is
 * ready when all are up, ends with a status, and undoes all in reverse order.
 */
final class Daemon {
  private static final Logger log = LoggerFactory.getLogger(Daemon.class);
  private static final Duration STOP_STEP = Duration.ofSeconds(5);

  private final String name;
  private final Vertx vertx;
  private final Shutdown shutdown = new Shutdown(STOP_STEP);
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final List<Supplier<Future<?>>> starting = new ArrayList<>();
  private volatile boolean started;

  Daemon(String name, Vertx vertx) {
    this.name = name;
    this.vertx = vertx;
    shutdown.add("vertx", vertx::close);
  }

  /** What must be undone at the end, before all that was added earlier. */
  void onStop(String what, Supplier<Future<?>> undo) {
    shutdown.add(what, undo);
  }

  /** Deploys on event loops. */
  void deploy(Supplier<? extends Deployable> verticle, int instances) {
    DeploymentOptions options = new DeploymentOptions().setInstances(instances);
    start(() -> vertx.deployVerticle(verticle, options));
  }

  /** Starts in turn what is more than a verticle. */
  void start(Supplier<Future<?>> step) {
    starting.add(step);
  }

  /** What is not up yet, in words for {@code /readyz}. */
  List<String> missing() {
    return started ? List.of() : List.of("start");
  }

  /** Ends {@link #run} with this status. Any thread. */
  void end(int status) {
    ended.complete(status);
  }

  /**
   * Waits until all is up, then until {@link #end} or a signal; returns the exit status. A start
   * that failed throws its cause.
   */
  int run() {
    shutdown.install();
    Future<?> up = Future.succeededFuture();
    for (Supplier<Future<?>> next : starting) {
      up = up.compose(before -> next.get());
    }
    up.onSuccess(
            all -> {
              started = true;
              log.info("up [command: {}, version: {}]", name, Version.current());
            })
        .onFailure(ended::completeExceptionally);
    try {
      return ended.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof UsageException usage) {
        throw usage;
      }
      if (e.getCause() instanceof IOException io) {
        // a port that is taken, an address that is not ours
        throw new UsageException("cannot start: " + io);
      }
      throw e;
    } finally {
      shutdown.run();
    }
  }
}
