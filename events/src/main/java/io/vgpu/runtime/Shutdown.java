package io.vgpu.runtime;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a process in the reverse order of its start, each step bounded, when SIGTERM or SIGINT
 * comes.
 */
public final class Shutdown {
  private static final Logger log = LoggerFactory.getLogger(Shutdown.class);
  private final Deque<Step> steps = new ArrayDeque<>();
  private final Duration perStep;

  private record Step(String name, Supplier<Future<?>> work) {}

  /** {@code perStep}: after which a step is left behind. */
  public Shutdown(Duration perStep) {
    this.perStep = perStep;
  }

  /** Adds what must be undone; the last added runs first. */
  public synchronized void add(String name, Supplier<Future<?>> work) {
    steps.push(new Step(name, work));
  }

  /** Runs {@link #run} when the JVM is told to end. */
  public void install() {
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("shutdown").unstarted(this::run));
  }

  /** Runs every step once; a step that fails or does not end in time is logged and left behind. */
  public void run() {
    while (true) {
      Step step;
      synchronized (this) {
        step = steps.poll();
      }
      if (step == null) {
        return;
      }
      try {
        step.work()
            .get()
            .toCompletionStage()
            .toCompletableFuture()
            .get(perStep.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException | TimeoutException e) {
        log.warn(
            "stopping went on without a step [step: {}, cause: {}]", step.name(), e.toString());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
