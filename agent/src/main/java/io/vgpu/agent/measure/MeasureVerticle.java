package io.vgpu.agent.measure;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.shim.RegionRounds;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.event.VgpuEvent;
import io.vgpu.event.VgpuEvent.UnaccountedLoad;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the containers every half second on lane {@code regions}, keeps what was found for
 * scrapes, and tells when a card's load is not its containers'. Never more than one look is under
 * way; one that fails is said once and tried again.
 */
public final class MeasureVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(MeasureVerticle.class);
  private static final long INTERVAL_MS = 500;

  private final RegionRounds regions;
  private final Mend mend;
  private final MeasureRound round;
  private final Measurements measurements;
  private final String node;
  private final Consumer<VgpuEvent> facts;
  private final Clock clock;
  private boolean failing;

  /** Gives a container's files their size back. */
  public interface Mend {
    Future<Void> setBack(Owner owner);
  }

  /** {@code nanoTime}: CLOCK_MONOTONIC of the host. */
  public MeasureVerticle(
      RegionRounds regions,
      Mend mend,
      List<PhysicalGpu> gpus,
      CardSamples samples,
      Listings listings,
      Measurements measurements,
      String node,
      Consumer<VgpuEvent> facts,
      Clock clock,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.regions = regions;
    this.mend = mend;
    this.round =
        new MeasureRound(
            gpus.stream().map(PhysicalGpu::uuid).toList(), samples, listings, nanoTime, meters);
    this.measurements = measurements;
    this.node = node;
    this.facts = facts;
    this.clock = clock;
  }

  @Override
  public Future<?> start() {
    tick();
    return Future.succeededFuture();
  }

  private void tick() {
    regions
        .round(round::run)
        .onComplete(
            done -> {
              if (done.succeeded()) {
                keep(done.result());
              } else if (!failing) {
                log.error("look at containers' usage failed", done.cause());
              }
              failing = done.failed();
              vertx.setTimer(INTERVAL_MS, t -> tick());
            });
  }

  MeasureRound round() {
    return round;
  }

  void keep(MeasureRound.Found found) {
    measurements.put(found.measured());
    // what fails is tried at the next look
    found.misshapen().forEach(owner -> mend.setBack(owner));
    found
        .news()
        .forEach(
            card -> {
              CardLoad load = found.measured().cards().get(card);
              if (load != null) {
                facts.accept(
                    new UnaccountedLoad(
                        clock.instant(),
                        node,
                        card,
                        load.unaccounted(),
                        load.cardPermille().orElse(0),
                        load.containersPermille(),
                        load.unlimited()));
                if (load.unaccounted()) {
                  log.warn(
                      "the card is busier or idler than its containers [gpu: {}, card: {} permille, containers: {} permille, without limit: {}]",
                      card,
                      load.cardPermille().orElse(0),
                      load.containersPermille(),
                      load.unlimited());
                } else {
                  log.info("the card's load is its containers' again [gpu: {}]", card);
                }
              }
            });
  }
}
