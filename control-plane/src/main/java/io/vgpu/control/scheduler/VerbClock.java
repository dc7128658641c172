package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.runtime.LaneFullException;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Counts and times the calls of verbs. Any thread. */
final class VerbClock {
  private final SchedulerMeters meters;
  private final LongSupplier nanoTime;

  VerbClock(SchedulerMeters meters, LongSupplier nanoTime) {
    this.meters = meters;
    this.nanoTime = nanoTime;
  }

  /**
   * Runs a verb.
   *
   * @param busy what is answered when too much is waiting, so that the pod is tried again; any
   *     other failure is a fault of ours
   */
  Future<Reply> timed(Verb verb, Supplier<Future<Done>> work, Function<String, Reply> busy) {
    long started = nanoTime.getAsLong();
    return work.get()
        .recover(
            fault ->
                fault instanceof LaneFullException
                    ? Future.succeededFuture(
                        new Done(busy.apply(String.valueOf(fault.getMessage())), Result.ERROR))
                    : Future.failedFuture(fault))
        .onComplete(
            d ->
                meters.verb(
                    verb,
                    d.succeeded() ? d.result().result() : Result.ERROR,
                    Duration.ofNanos(nanoTime.getAsLong() - started)))
        .map(Done::reply);
  }
}
