package io.vgpu.agent.gpu;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.health.Evidence;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every card for its own figures at a steady pace, each on its own lane {@code nvml-<index>}
 * (D8). At most one call is under way per card; one that does not return by the deadline makes its
 * card suspect and stalls nothing else. A scrape reads {@link CardSamples} and calls nobody.
 */
public final class GpuSamplerVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(GpuSamplerVerticle.class);

  /** What came of one attempt. */
  public enum Outcome {
    OK,
    FAILED,
    /** The call before has not returned yet. */
    BUSY
  }

  /** Is told of every attempt; on the verticle's event loop. */
  public interface Counter {
    void count(int cardIndex, Outcome outcome);
  }

  private final GpuDriver driver;
  private final List<Probe> probes;
  private final Duration interval;
  private final Duration deadline;
  private final CardSamples samples;
  private final LongSupplier nanoTime;
  private final Counter counter;
  private final BiConsumer<GpuUuid, Evidence> health;

  private static final class Probe {
    final PhysicalGpu gpu;
    final Lane lane;
    long calledNanos;
    boolean underWay;
    boolean failing;

    Probe(PhysicalGpu gpu, Lane lane) {
      this.gpu = gpu;
      this.lane = lane;
    }
  }

  /**
   * {@code lanes}: one per card, by index; {@code nanoTime}: a monotonic clock; {@code health}
   * hears what each attempt says of its card.
   */
  public GpuSamplerVerticle(
      GpuDriver driver,
      List<PhysicalGpu> gpus,
      Map<Integer, Lane> lanes,
      Duration interval,
      Duration deadline,
      CardSamples samples,
      LongSupplier nanoTime,
      Counter counter,
      BiConsumer<GpuUuid, Evidence> health) {
    this.driver = driver;
    this.probes = gpus.stream().map(g -> new Probe(g, lane(lanes, g.index()))).toList();
    this.interval = interval;
    this.deadline = deadline;
    this.samples = samples;
    this.nanoTime = nanoTime;
    this.counter = counter;
    this.health = health;
  }

  private static Lane lane(Map<Integer, Lane> lanes, int index) {
    Lane lane = lanes.get(index);
    if (lane == null) {
      throw new IllegalArgumentException("card " + index + ": must have a lane");
    }
    return lane;
  }

  @Override
  public Future<?> start() {
    tick();
    vertx.setPeriodic(interval.toMillis(), t -> tick());
    return Future.succeededFuture();
  }

  /** A round now, beside the steady ones. Any thread. */
  void runRound() {
    context.runOnContext(v -> tick());
  }

  private void tick() {
    probes.forEach(this::ask);
  }

  private void ask(Probe probe) {
    GpuUuid uuid = probe.gpu.uuid();
    if (probe.underWay) {
      counter.count(probe.gpu.index(), Outcome.BUSY);
      if (nanoTime.getAsLong() - probe.calledNanos > deadline.toNanos()) {
        samples.suspect(uuid);
        health.accept(
            uuid,
            new Evidence.Trouble(
                "a driver call has not returned for " + deadline.toSeconds() + " s"));
      }
      return;
    }
    probe.underWay = true;
    probe.calledNanos = nanoTime.getAsLong();
    probe
        .lane
        .call(() -> sample(probe.gpu))
        .onComplete(
            sampled -> {
              probe.underWay = false;
              samples.trust(uuid);
              health.accept(uuid, evidence(sampled.cause()));
              if (sampled.succeeded()) {
                sampled.result().forEach(samples::put);
              } else if (!probe.failing) {
                log.warn(
                    "card gives no sample [gpu: {}, cause: {}]", uuid, sampled.cause().toString());
              }
              probe.failing =
                  sampled.failed(); // one line per failure that begins, not one per sample
              counter.count(probe.gpu.index(), sampled.succeeded() ? Outcome.OK : Outcome.FAILED);
            });
  }

  /**
   * The card, then its slices; one that is gone by now has no figures, and is no fault of the card.
   */
  private List<CardSample> sample(PhysicalGpu gpu) {
    List<CardSample> all = new ArrayList<>();
    all.add(driver.sample(gpu.uuid()));
    for (PhysicalGpu.MigDevice slice : gpu.migDevices()) {
      try {
        all.add(driver.sample(slice.uuid()));
      } catch (GpuDriverException e) {
        log.debug("slice gives no sample [slice: {}, cause: {}]", slice.uuid(), e.getMessage());
      }
    }
    return all;
  }

  private static Evidence evidence(@Nullable Throwable failure) {
    if (failure == null) {
      return new Evidence.Answered();
    }
    return failure instanceof GpuDriverException e && e.needsReset()
        ? new Evidence.Fault(String.valueOf(e.getMessage()), true)
        : new Evidence.Trouble(String.valueOf(failure.getMessage()));
  }
}
