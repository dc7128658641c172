package io.vgpu.control.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** What the webhook counts. Any thread. */
public final class WebhookMeters {
  private final MeterRegistry registry;

  public WebhookMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** A review has come. */
  public Timer.Sample review() {
    return Timer.start(registry);
  }

  /** It was answered. */
  public void answered(Timer.Sample review, String path, String outcome) {
    review.stop(
        Timer.builder(ControlMeters.WEBHOOK_REQUEST.meterName())
            .description(ControlMeters.WEBHOOK_REQUEST.description())
            .tags("path", path, "outcome", outcome)
            .register(registry));
  }
}
