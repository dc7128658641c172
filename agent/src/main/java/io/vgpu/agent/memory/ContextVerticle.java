package io.vgpu.agent.memory;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.measure.Listings;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.RegionRounds;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the driver who has how much of each card on which containers have contexts, on the card's
 * lane {@code nvml-<index>} (D8), between two looks on lane {@code regions}. At most one asking is
 * under way per card; what comes after the deadline is not used. A card where nobody has a context,
 * or that does not answer, is not asked.
 */
public final class ContextVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(ContextVerticle.class);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** What came of one asking. */
  private enum Outcome {
    OK,
    FAILED,
    LATE,
    BUSY
  }

  private static final class Probe {
    final PhysicalGpu gpu;
    final Lane lane;
    boolean underWay;
    boolean failing;

    Probe(PhysicalGpu gpu, Lane lane) {
      this.gpu = gpu;
      this.lane = lane;
    }
  }

  private final RegionRounds regions;
  private final GpuDriver driver;
  private final Attribution attribution;
  private final CardSamples samples;
  private final Map<GpuUuid, Probe> probes = new HashMap<>();
  private final ContextLooks looks;
  private final Duration interval;
  private final LongSupplier nanoTime;
  private final MeterRegistry meters;
  private boolean failing;

  /** {@code lanes}: one per card, by index; {@code nanoTime}: a monotonic clock. */
  public ContextVerticle(
      RegionRounds regions,
      GpuDriver driver,
      List<PhysicalGpu> gpus,
      Map<Integer, Lane> lanes,
      Attribution attribution,
      CardSamples samples,
      Listings listings,
      Duration interval,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.regions = regions;
    this.driver = driver;
    this.attribution = attribution;
    this.samples = samples;
    this.looks = new ContextLooks(listings, nanoTime);
    this.interval = interval;
    this.nanoTime = nanoTime;
    this.meters = meters;
    for (PhysicalGpu gpu : gpus) {
      Lane lane = lanes.get(gpu.index());
      if (lane == null) {
        throw new IllegalArgumentException("card " + gpu.index() + ": must have a lane");
      }
      probes.put(gpu.uuid(), new Probe(gpu, lane));
    }
  }

  @Override
  public Future<?> start() {
    next();
    return Future.succeededFuture();
  }

  private void next() {
    vertx.setTimer(interval.toMillis(), t -> tick());
  }

  private void tick() {
    regions
        .round(looks::before)
        .onComplete(
            looked -> {
              if (looked.failed() && !failing) {
                log.error("look at what containers were charged failed", looked.cause());
              }
              failing = looked.failed();
              if (looked.succeeded()) {
                looked.result().forEach(this::ask);
              }
              next();
            });
  }

  private void ask(GpuUuid card, Map<ContextLooks.Place, SlotSum> before) {
    Probe probe = probes.get(card);
    if (probe == null || samples.isSuspect(card)) {
      return; // a card that is gone since; or its lane is waiting for it
    }
    if (probe.underWay) {
      count(probe, Outcome.BUSY);
      return;
    }
    probe.underWay = true;
    long asked = nanoTime.getAsLong();
    probe
        .lane
        .call(() -> DriverList.of(driver.processes(card), attribution))
        .compose(list -> compare(probe, asked, before, list))
        .onComplete(
            done -> {
              probe.underWay = false;
              if (done.failed()) {
                count(probe, Outcome.FAILED);
                if (!probe.failing) {
                  log.warn(
                      "no list of a card's processes [gpu: {}, cause: {}]",
                      card,
                      done.cause().toString());
                }
              }
              probe.failing = done.failed();
            });
  }

  private Future<?> compare(
      Probe probe, long asked, Map<ContextLooks.Place, SlotSum> before, DriverList list) {
    if (nanoTime.getAsLong() - asked > DEADLINE.toNanos()) {
      count(probe, Outcome.LATE);
      return Future.succeededFuture();
    }
    count(probe, Outcome.OK);
    String index = Integer.toString(probe.gpu.index());
    AgentMeters.CARD_PROCESSES_LISTED.counter(meters, index, "pod").increment(list.ours().size());
    AgentMeters.CARD_PROCESSES_LISTED.counter(meters, index, "other").increment(list.elsewhere());
    return regions
        .round(containers -> looks.after(before, list, containers))
        .onSuccess(n -> AgentMeters.CONTEXTS_MEASURED.counter(meters, index).increment(n));
  }

  private void count(Probe probe, Outcome outcome) {
    AgentMeters.CARD_PROCESS_LISTS
        .counter(
            meters, Integer.toString(probe.gpu.index()), outcome.name().toLowerCase(Locale.ROOT))
        .increment();
  }
}
