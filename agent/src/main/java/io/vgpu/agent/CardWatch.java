package io.vgpu.agent;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuHealthVerticle;
import io.vgpu.agent.gpu.GpuSamplerVerticle;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.health.Evidence;
import io.vgpu.agent.health.HealthNotes;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.metrics.HealthMeters;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeEvents;
import io.vgpu.model.GpuUuid;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Those who look at the cards, wired: samples and health. A part of {@link Agent}. */
record CardWatch(
    AgentConfig config,
    GpuDriver driver,
    NodeGpus inventory,
    CardSamples samples,
    Lanes lanes,
    EventBusPort bus,
    MeterRegistry meters,
    Clock clock) {
  private static final Duration SAMPLE_DEADLINE = Duration.ofSeconds(2);
  static final String SILENT = "the driver did not answer for it when the agent started";

  /**
   * Health first: what was wrong before a restart is so before anybody is told of cards; so are
   * those that have not answered yet, {@code silent}. {@code boot}: where the agent keeps notes,
   * the hash of the kernel's boot id. They are kept once {@link GpuHealthVerticle#keepNotes} was
   * called.
   */
  GpuHealthVerticle start(
      Consumer<VerticleBase> deploy,
      List<PhysicalGpu> gpus,
      Set<GpuUuid> silent,
      Optional<Long> boot) {
    HealthMeters counted = new HealthMeters(meters);
    GpuHealthVerticle health =
        new GpuHealthVerticle(
            driver, inventory, terms(boot), lanes.nvmlEvents(), bus, config.nodeName(), counted);
    deploy.accept(health);
    silent.forEach(card -> health.see(card, new Evidence.Fault(SILENT, false)));
    counted.standings(gpus, health::standing);
    deploy.accept(
        new GpuSamplerVerticle(
            driver,
            gpus,
            lanes.nvmlByCard(),
            config.cards().sampleInterval(),
            SAMPLE_DEADLINE,
            samples,
            System::nanoTime,
            (card, outcome) ->
                AgentMeters.CARD_SAMPLES
                    .counter(
                        meters, Integer.toString(card), outcome.name().toLowerCase(Locale.ROOT))
                    .increment(),
            health::see));
    return health;
  }

  private GpuHealthVerticle.Terms terms(Optional<Long> boot) {
    return new GpuHealthVerticle.Terms(
        config.cards().xids(),
        config.cards().health(),
        boot.map(
            b ->
                new Checkpoint<>(
                    config.shim().paths().managerDir().resolve("checkpoints/health.json"),
                    HealthNotes.CODEC,
                    lanes.files(),
                    clock)),
        boot.orElse(0L),
        clock,
        System::nanoTime);
  }

  /** Says a change where {@code kubectl describe node} shows it. */
  static void tell(KubeEvents events, GpuHealthChanged e) {
    events.node(
        e.node(),
        e.healthy() ? KubeEvents.Type.NORMAL : KubeEvents.Type.WARNING,
        e.healthy() ? "GpuHealthy" : "GpuUnhealthy",
        "GPU " + e.gpu() + (e.healthy() ? " is healthy again, it was not: " : ": ") + e.cause());
  }
}
