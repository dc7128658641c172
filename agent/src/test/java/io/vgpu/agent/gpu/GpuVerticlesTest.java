package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.GpuSamplerVerticle.Outcome;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.Lane;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GpuVerticlesTest {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final FakeGpuDriver driver = new FakeGpuDriver(2);
  private final NodeGpus gpus =
      new NodeGpus(driver.discover(), NodeConfig.DEFAULT, Optional.empty(), DeviceSelection.NONE);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @AfterEach
  void stop() throws Exception {
    driver.close();
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(20, TimeUnit.SECONDS);
    assertThat(next).isNotNull();
    return next;
  }

  private Lane lane(String name) {
    return new Lane(vertx, name, 2, Duration.ofSeconds(30), meters);
  }

  private BlockingQueue<GpuHealthChanged> watch(XidRules rules) throws Exception {
    BlockingQueue<GpuHealthChanged> changes = new LinkedBlockingQueue<>();
    bus.on(EventTypes.GPU_HEALTH_CHANGED, changes::add);
    await(
        vertx.deployVerticle(
            new GpuHealthVerticle(
                driver,
                gpus,
                rules,
                lane("nvml-events"),
                bus,
                "n1",
                Clock.fixed(Instant.EPOCH, ZoneOffset.UTC),
                xid -> {})));
    return changes;
  }

  @Test
  void aCriticalErrorMarksItsCardAndIsTold() throws Exception {
    BlockingQueue<GpuInventoryChanged> inventories = new LinkedBlockingQueue<>();
    bus.on(EventTypes.GPU_INVENTORY_CHANGED, inventories::add);
    BlockingQueue<GpuHealthChanged> changes = watch(XidRules.parse("", ""));

    driver.post(new HealthEvent.Xid(Optional.of(FakeGpuDriver.uuid(0)), 31)); // the application's
    driver.post(new HealthEvent.Xid(Optional.of(FakeGpuDriver.uuid(1)), 79));

    assertThat(take(changes))
        .isEqualTo(
            new GpuHealthChanged(Instant.EPOCH, "n1", FakeGpuDriver.uuid(1), false, "XID 79"));
    assertThat(take(inventories).inventory()).isEqualTo(gpus.published());
    assertThat(gpus.cards()).extracting(GpuInventory.Card::healthy).containsExactly(true, false);
  }

  @Test
  void anErrorOfAnUnnamedCardSpeaksAgainstAll() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = watch(XidRules.parse("", ""));
    driver.post(new HealthEvent.Xid(Optional.empty(), 79));
    assertThat(List.of(take(changes).gpu(), take(changes).gpu()))
        .containsExactlyInAnyOrder(FakeGpuDriver.uuid(0), FakeGpuDriver.uuid(1));
  }

  @Test
  void aCardThatCannotBeWatchedIsUnhealthy() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = watch(XidRules.parse("", ""));
    driver.post(new HealthEvent.NotWatchable(FakeGpuDriver.uuid(1), "code 999"));
    assertThat(take(changes).cause()).isEqualTo("cannot be watched: code 999");
  }

  private record Count(int card, Outcome outcome) {}

  @Test
  void aHangingCardBecomesSuspectAndStallsNobody() throws Exception {
    CardSamples samples = new CardSamples();
    BlockingQueue<Count> counts = new LinkedBlockingQueue<>();
    AtomicLong now = new AtomicLong();
    driver.hang(FakeGpuDriver.uuid(0));
    Map<Integer, Lane> lanes = new HashMap<>(Map.of(0, lane("nvml-0"), 1, lane("nvml-1")));
    GpuSamplerVerticle sampler =
        new GpuSamplerVerticle(
            driver,
            driver.discover(),
            lanes,
            Duration.ofHours(1), // rounds come by hand
            DEADLINE,
            samples,
            now::get,
            (card, outcome) -> counts.add(new Count(card, outcome)));
    await(vertx.deployVerticle(sampler));

    assertThat(take(counts)).isEqualTo(new Count(1, Outcome.OK));
    assertThat(samples.last(FakeGpuDriver.uuid(1))).isPresent();

    round(sampler);
    assertThat(List.of(take(counts), take(counts)))
        .containsExactlyInAnyOrder(new Count(0, Outcome.BUSY), new Count(1, Outcome.OK));
    assertThat(samples.isSuspect(FakeGpuDriver.uuid(0))).isFalse();

    now.set(DEADLINE.toNanos() + 1);
    round(sampler);
    assertThat(List.of(take(counts), take(counts)))
        .containsExactlyInAnyOrder(new Count(0, Outcome.BUSY), new Count(1, Outcome.OK));
    assertThat(samples.isSuspect(FakeGpuDriver.uuid(0))).isTrue();
    assertThat(samples.last(FakeGpuDriver.uuid(0))).isEmpty();

    driver.release(FakeGpuDriver.uuid(0));
    assertThat(take(counts)).isEqualTo(new Count(0, Outcome.OK));
    assertThat(samples.isSuspect(FakeGpuDriver.uuid(0))).isFalse();
  }

  @Test
  void aFailingCardKeepsItsLastSample() throws Exception {
    CardSamples samples = new CardSamples();
    BlockingQueue<Count> counts = new LinkedBlockingQueue<>();
    GpuSamplerVerticle sampler =
        new GpuSamplerVerticle(
            driver,
            List.of(driver.discover().get(1)),
            Map.of(1, lane("nvml-1")),
            Duration.ofHours(1),
            DEADLINE,
            samples,
            System::nanoTime,
            (card, outcome) -> counts.add(new Count(card, outcome)));
    await(vertx.deployVerticle(sampler));
    assertThat(take(counts).outcome()).isEqualTo(Outcome.OK);
    Optional<CardSample> before = samples.last(FakeGpuDriver.uuid(1));

    driver.fail(FakeGpuDriver.uuid(1), 15);
    round(sampler);

    assertThat(take(counts).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(samples.last(FakeGpuDriver.uuid(1))).isEqualTo(before).isPresent();
  }

  /** One round, on the verticle's own event loop. */
  private static void round(GpuSamplerVerticle sampler) {
    sampler.runRound();
  }
}
