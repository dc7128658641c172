package io.vgpu.agent.refund;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.shim.RegionRounds;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs refund rounds on lane {@code regions}: while a card is shared by active processes as often
 * as {@link NextLook} wants, every 5 to 20 ms, and every 100 ms otherwise (D23). Never more than
 * one is under way; one that fails is said once and tried again.
 */
public final class RefundVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(RefundVerticle.class);

  private static final long NANOS_PER_MS = 1_000_000;
  private static final long SLOW_MS = RefundRound.SLOW_NS / NANOS_PER_MS;

  private final RegionRounds regions;
  private final RefundRound round;
  private boolean failing;

  /** {@code nanoTime}: CLOCK_MONOTONIC of the host. */
  public RefundVerticle(
      RegionRounds regions,
      List<PhysicalGpu> gpus,
      CardSamples samples,
      Futex futex,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.regions = regions;
    this.round = new RefundRound(gpus, samples, futex, nanoTime, new RefundMeters(meters));
  }

  @Override
  public Future<?> start() {
    next(SLOW_MS);
    return Future.succeededFuture();
  }

  private void next(long afterMs) {
    vertx.setTimer(afterMs, t -> tick());
  }

  private void tick() {
    regions
        .round(round::run)
        .onComplete(
            done -> {
              if (done.failed() && !failing) {
                log.error("refund round failed", done.cause());
              }
              failing = done.failed();
              next(done.succeeded() ? Math.max(done.result() / NANOS_PER_MS, 1) : SLOW_MS);
            });
  }
}
