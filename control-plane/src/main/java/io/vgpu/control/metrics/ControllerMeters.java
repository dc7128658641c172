package io.vgpu.control.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** What the controller counts. Any thread. */
public final class ControllerMeters {
  private final MeterRegistry registry;

  /** What became of a pod that had to go. */
  public enum Outcome {
    REPLACED("replaced"),
    EVICTED("evicted"),
    SKIPPED("skipped"),
    NAME_TAKEN("name-taken"),
    GIVEN_UP("given-up");

    private final String word;

    Outcome(String word) {
      this.word = word;
    }
  }

  public ControllerMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** A pod that had to go is dealt with. */
  public void settled(Outcome outcome) {
    Counter.builder(ControlMeters.RESCHEDULE_PODS.meterName())
        .description(ControlMeters.RESCHEDULE_PODS.description())
        .tag("outcome", outcome.word)
        .register(registry)
        .increment();
  }

  /** Shows how many pods wait for their replacement. */
  public void pending(IntSupplier pods) {
    gauge(ControlMeters.RESCHEDULE_PENDING, pods);
  }

  /** Shows about how many pods' decisions are kept. */
  public void explanations(IntSupplier pods) {
    gauge(ControlMeters.EXPLANATIONS_KEPT, pods);
  }

  /** Shows whether this process holds the Lease. */
  public void leading(BooleanSupplier leading) {
    gauge(ControlMeters.LEADING, () -> leading.getAsBoolean() ? 1 : 0);
  }

  private void gauge(ControlMeters meter, IntSupplier value) {
    Gauge.builder(meter.meterName(), value, IntSupplier::getAsInt)
        .description(meter.description())
        .strongReference(true)
        .register(registry);
  }
}
