package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.GpuSamplerVerticle.Outcome;
import io.vgpu.agent.health.Evidence;
import io.vgpu.agent.health.HealthNotes;
import io.vgpu.agent.health.HealthRules;
import io.vgpu.agent.health.Standing;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.metrics.HealthMeters;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.Lane;
import java.nio.file.Path;
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
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuVerticlesTest {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final FakeGpuDriver driver = new FakeGpuDriver(2);
  private final NodeGpus gpus =
      new NodeGpus(driver.discover(), NodeConfig.DEFAULT, Optional.empty(), DeviceSelection.NONE);
  private final NodeGpus gpusAfterReboot =
      new NodeGpus(driver.discover(), NodeConfig.DEFAULT, Optional.empty(), DeviceSelection.NONE);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicLong now = new AtomicLong();

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

  private GpuHealthVerticle health(XidRules rules, Optional<Checkpoint<HealthNotes>> notes)
      throws Exception {
    GpuHealthVerticle health =
        new GpuHealthVerticle(
            driver,
            gpus,
            new GpuHealthVerticle.Terms(
                rules,
                HealthRules.DEFAULT,
                notes,
                77,
                Clock.fixed(Instant.EPOCH, ZoneOffset.UTC),
                now::get),
            lane("nvml-events"),
            bus,
            "n1",
            new HealthMeters(meters));
    await(vertx.deployVerticle(health));
    return health;
  }

  private BlockingQueue<GpuHealthChanged> watch(XidRules rules) throws Exception {
    BlockingQueue<GpuHealthChanged> changes = changes();
    health(rules, Optional.empty());
    return changes;
  }

  private BlockingQueue<GpuHealthChanged> changes() {
    BlockingQueue<GpuHealthChanged> changes = new LinkedBlockingQueue<>();
    bus.on(EventTypes.GPU_HEALTH_CHANGED, changes::add);
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
  void anErrorOfAnUnnamedCardTakesOutNoCardThatAnswers() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = changes();
    GpuHealthVerticle health = health(XidRules.parse("", ""), Optional.empty());
    driver.post(new HealthEvent.Xid(Optional.empty(), 79));
    until(() -> health.standing(FakeGpuDriver.uuid(0)) == Standing.SUSPECT);
    until(() -> health.standing(FakeGpuDriver.uuid(1)) == Standing.SUSPECT);
    assertThat(gpus.cards()).allMatch(GpuInventory.Card::healthy);
    health.see(FakeGpuDriver.uuid(0), new Evidence.Answered());
    until(() -> health.standing(FakeGpuDriver.uuid(0)) == Standing.HEALTHY);
    now.set(HealthRules.DEFAULT.grace().toNanos());
    health.see(FakeGpuDriver.uuid(1), new Evidence.Trouble("code 999"));
    GpuHealthChanged out = take(changes);
    assertThat(out.gpu()).isEqualTo(FakeGpuDriver.uuid(1));
    assertThat(out.cause()).isEqualTo("XID 79, of a card that is not named");
    assertThat(changes).isEmpty();
  }

  @Test
  void aCardThatCannotBeWatchedIsUnhealthy() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = watch(XidRules.parse("", ""));
    driver.post(new HealthEvent.NotWatchable(FakeGpuDriver.uuid(1), "code 999", false));
    assertThat(take(changes).cause()).isEqualTo("cannot be watched: code 999");
  }

  @Test
  void memoryErrorsAreCountedAndTheUncorrectedSpeakAgainstTheCard() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = watch(XidRules.parse("", ""));
    driver.post(new HealthEvent.Ecc(Optional.of(FakeGpuDriver.uuid(0)), true));
    driver.post(new HealthEvent.Ecc(Optional.of(FakeGpuDriver.uuid(1)), false));
    assertThat(take(changes).gpu()).isEqualTo(FakeGpuDriver.uuid(1));
    assertThat(AgentMeters.CARD_ECC_ERRORS.counter(meters, "0", "corrected").count()).isOne();
    assertThat(AgentMeters.CARD_ECC_ERRORS.counter(meters, "1", "uncorrected").count()).isOne();
  }

  @Test
  @DisplayName("13-18: unhealthy, probed, healthy again, and each is told")
  void aCardComesBackAfterItAnsweredForLongEnough() throws Exception {
    BlockingQueue<GpuHealthChanged> changes = changes();
    GpuHealthVerticle health = health(XidRules.parse("", ""), Optional.empty());
    GpuUuid card = FakeGpuDriver.uuid(1);
    driver.post(new HealthEvent.Xid(Optional.of(card), 62));
    assertThat(take(changes).healthy()).isFalse();
    health.see(card, new Evidence.Answered());
    now.set(HealthRules.DEFAULT.quiet().toNanos());
    health.see(card, new Evidence.Answered());
    until(() -> health.standing(card) == Standing.PROBING);
    assertThat(gpus.card(card).orElseThrow().healthy()).isFalse();
    now.addAndGet(HealthRules.DEFAULT.probe().toNanos());
    health.see(card, new Evidence.Answered());
    assertThat(take(changes))
        .isEqualTo(new GpuHealthChanged(Instant.EPOCH, "n1", card, true, "XID 62"));
    assertThat(gpus.published().devices()).allMatch(GpuDevice::healthy);
  }

  @Test
  @DisplayName("13-17, 13-18: a restart does not forget what was wrong, a reboot does")
  void faultsOutliveTheAgentButNotTheBoot(@TempDir Path dir) throws Exception {
    Checkpoint<HealthNotes> notes =
        new Checkpoint<>(
            dir.resolve("checkpoints/health.json"),
            HealthNotes.CODEC,
            new Lane(vertx, "files", 16, Duration.ofSeconds(5), meters),
            Clock.systemUTC());
    BlockingQueue<GpuHealthChanged> changes = changes();
    GpuHealthVerticle health = health(XidRules.parse("", ""), Optional.of(notes));
    driver.post(new HealthEvent.Xid(Optional.of(FakeGpuDriver.uuid(0)), 62));
    take(changes);
    assertThat(await(notes.load())).as("another agent still serves").isEqualTo(HealthNotes.NONE);
    health.keepNotes();
    driver.post(new HealthEvent.Xid(Optional.of(FakeGpuDriver.uuid(1)), 79));
    take(changes);
    HealthNotes kept = await(notes.load());
    assertThat(kept.after(77))
        .as("also what was seen while it was not our turn")
        .containsOnly(
            Map.entry(FakeGpuDriver.uuid(0), new HealthNotes.Note("XID 62", false, 1)),
            Map.entry(FakeGpuDriver.uuid(1), new HealthNotes.Note("XID 79", true, 1)));

    NodeGpus again =
        new NodeGpus(driver.discover(), NodeConfig.DEFAULT, Optional.empty(), DeviceSelection.NONE);
    for (long boot : List.of(77L, 78L)) {
      GpuHealthVerticle next =
          new GpuHealthVerticle(
              driver,
              boot == 77 ? again : gpusAfterReboot,
              new GpuHealthVerticle.Terms(
                  XidRules.parse("", ""),
                  HealthRules.DEFAULT,
                  Optional.of(notes),
                  boot,
                  Clock.systemUTC(),
                  now::get),
              lane("nvml-events-" + boot),
              bus,
              "n1",
              new HealthMeters(meters));
      await(vertx.deployVerticle(next));
    }
    assertThat(again.card(FakeGpuDriver.uuid(1)).orElseThrow().cause()).isEqualTo("XID 79");
    assertThat(gpusAfterReboot.cards()).allMatch(GpuInventory.Card::healthy);
  }

  @Test
  void disabledChecksSayNothing() throws Exception {
    GpuHealthVerticle health = health(XidRules.parse("all", ""), Optional.empty());
    health.see(FakeGpuDriver.uuid(0), new Evidence.Fault("XID 79", true));
    health.see(FakeGpuDriver.uuid(0), new Evidence.Mended());
    await(onLoop());
    assertThat(gpus.cards()).allMatch(GpuInventory.Card::healthy);
  }

  private Future<Void> onLoop() {
    return vertx.timer(1, TimeUnit.MILLISECONDS).mapEmpty();
  }

  private static void until(BooleanSupplier reached) {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!reached.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private final BlockingQueue<Map.Entry<GpuUuid, Evidence>> seen = new LinkedBlockingQueue<>();

  private record Count(int card, Outcome outcome) {}

  @Test
  void aHangingCardBecomesSuspectAndStallsNobody() throws Exception {
    CardSamples samples = new CardSamples();
    BlockingQueue<Count> counts = new LinkedBlockingQueue<>();
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
            (card, outcome) -> counts.add(new Count(card, outcome)),
            (card, evidence) -> seen.add(Map.entry(card, evidence)));
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
    assertThat(seen)
        .contains(
            Map.entry(
                FakeGpuDriver.uuid(0),
                new Evidence.Trouble("a driver call has not returned for 2 s")));

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
            (card, outcome) -> counts.add(new Count(card, outcome)),
            (card, evidence) -> seen.add(Map.entry(card, evidence)));
    await(vertx.deployVerticle(sampler));
    assertThat(take(counts).outcome()).isEqualTo(Outcome.OK);
    Optional<CardSample> before = samples.last(FakeGpuDriver.uuid(1));

    driver.fail(FakeGpuDriver.uuid(1), 15);
    round(sampler);

    assertThat(take(counts).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(samples.last(FakeGpuDriver.uuid(1))).isEqualTo(before).isPresent();
    assertThat(take(seen).getValue()).isEqualTo(new Evidence.Answered());
    assertThat(take(seen).getValue())
        .as("lost: no grace, and no way back without a reset")
        .isInstanceOfSatisfying(Evidence.Fault.class, f -> assertThat(f.lasting()).isTrue());
  }

  /** One round, on the verticle's own event loop. */
  private static void round(GpuSamplerVerticle sampler) {
    sampler.runRound();
  }
}
