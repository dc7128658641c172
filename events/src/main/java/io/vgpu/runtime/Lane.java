package io.vgpu.runtime;

import static io.vgpu.model.Checks.check;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A thread of its own for one mutable thing (architecture.md 5, D16): work runs one after the
 * other, in the order of the calls, and completes on the caller's context. A full lane refuses at
 * once; it never grows.
 */
public final class Lane {
  private final String name;
  private final int queueMax;
  private final WorkerExecutor executor;
  private final AtomicInteger waiting = new AtomicInteger();
  private final Timer waitTime;
  private final Timer runTime;

  /**
   * Created by {@code Main} before anything can ask for the name: a shared executor keeps the
   * settings of its first creation.
   *
   * @param queueMax most calls waiting or running
   * @param maxExecuteTime after which Vert.x warns that the lane is blocked
   */
  public Lane(
      Vertx vertx, String name, int queueMax, Duration maxExecuteTime, MeterRegistry meters) {
    check(queueMax > 0, "lane %s: queue of %d must hold at least one", name, queueMax);
    this.name = name;
    this.queueMax = queueMax;
    this.executor =
        vertx.createSharedWorkerExecutor(
            "lane-" + name, 1, maxExecuteTime.toNanos(), TimeUnit.NANOSECONDS);
    Gauge.builder("vgpu.lane.queue.depth", waiting, AtomicInteger::get)
        .description("calls waiting or running on a lane")
        .tag("lane", name)
        .register(meters);
    this.waitTime =
        Timer.builder("vgpu.lane.wait")
            .description("time from call to start on a lane")
            .tag("lane", name)
            .register(meters);
    this.runTime =
        Timer.builder("vgpu.lane.run")
            .description("time of one call on a lane")
            .tag("lane", name)
            .register(meters);
  }

  /**
   * Runs {@code work} on the lane; fails with {@link LaneFullException} at once when too much is
   * waiting. Any thread.
   */
  public <T> Future<T> call(Callable<T> work) {
    if (waiting.incrementAndGet() > queueMax) {
      waiting.decrementAndGet();
      return Future.failedFuture(new LaneFullException(name, queueMax));
    }
    long called = System.nanoTime();
    Callable<T> measured =
        () -> {
          long started = System.nanoTime();
          waitTime.record(started - called, TimeUnit.NANOSECONDS);
          try {
            return work.call();
          } finally {
            runTime.record(System.nanoTime() - started, TimeUnit.NANOSECONDS);
            waiting.decrementAndGet();
          }
        };
    try {
      // not "ordered": that is an order over all executors which one context calls, so that a lane
      // which hangs would hold up the caller's other lanes. One thread keeps this lane's order.
      return executor.executeBlocking(measured, false);
    } catch (RejectedExecutionException e) {
      waiting.decrementAndGet();
      return Future.failedFuture(e); // the lane is closed
    }
  }

  /** Calls waiting or running now. */
  public int depth() {
    return waiting.get();
  }

  /** The lane's name. */
  public String name() {
    return name;
  }

  /** Refuses all that is not running yet. */
  public Future<Void> close() {
    return executor.close();
  }
}
