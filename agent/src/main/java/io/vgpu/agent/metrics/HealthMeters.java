package io.vgpu.agent.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.gpu.GpuHealthVerticle;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.health.Standing;
import io.vgpu.model.GpuUuid;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** What is counted of the cards' health, and how it stands with each. */
public final class HealthMeters implements GpuHealthVerticle.Counter {
  private final MeterRegistry meters;

  public HealthMeters(MeterRegistry meters) {
    this.meters = meters;
  }

  @Override
  public void xid(int number) {
    AgentMeters.CARD_XIDS.counter(meters, Integer.toString(number)).increment();
  }

  @Override
  public void ecc(int card, boolean corrected) {
    AgentMeters.CARD_ECC_ERRORS
        .counter(
            meters, card < 0 ? "" : Integer.toString(card), corrected ? "corrected" : "uncorrected")
        .increment();
  }

  /** One series per card and standing, 1 for the one that is. */
  public void standings(List<PhysicalGpu> gpus, Function<GpuUuid, Standing> standing) {
    for (PhysicalGpu gpu : gpus) {
      for (Standing s : Standing.values()) {
        Gauge.builder("vgpu.card.standing", () -> standing.apply(gpu.uuid()) == s ? 1 : 0)
            .description(AgentMeters.CARD_STANDING.meaning())
            .tag("device_idx", Integer.toString(gpu.index()))
            .tag("device_uuid", gpu.uuid().value())
            .tag("standing", s.name().toLowerCase(Locale.ROOT))
            .register(meters);
      }
    }
  }
}
