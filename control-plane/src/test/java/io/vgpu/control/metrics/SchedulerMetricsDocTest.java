package io.vgpu.control.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.model.Reason;
import io.vgpu.testing.GeneratedDoc;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page of the extender's metrics follows the code, and the names are what Prometheus sees. */
class SchedulerMetricsDocTest {
  @Test
  void thePageFollowsTheCode() {
    StringBuilder page =
        new StringBuilder(
            """
            # Metrics of the scheduler extender

            Label values come from closed lists. Made from `ControlMeters`; a test keeps it so.

            | name | kind | labels | meaning |
            |---|---|---|---|
            """);
    for (ControlMeters m : ControlMeters.values()) {
      page.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  m.exposedName(),
                  m.kind().name().toLowerCase(Locale.ROOT),
                  m.labels().stream().map(l -> "`" + l + "`").collect(Collectors.joining(" ")),
                  m.description()));
    }
    GeneratedDoc.check("metrics-scheduler.md", page.toString());
  }

  @Test
  void namesAndLabelsAreThoseExposed() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    SchedulerMeters meters = new SchedulerMeters(registry);
    meters.verb(Verb.FILTER, Result.FIT, Duration.ofMillis(1));
    meters.reject(Verb.FILTER, Reason.DEVICE_UNHEALTHY);
    meters.placed(Wishes.NONE);
    meters.count(ControlMeters.BIND_CONFLICT);
    meters.count(ControlMeters.BIND_UNKNOWN);
    meters.count(ControlMeters.POD_UNCOUNTED);
    meters.count(ControlMeters.CARD_OVERCOMMITTED);
    meters.inFlight(() -> 3);
    String exposed = registry.scrape();
    for (ControlMeters m : ControlMeters.values()) {
      assertThat(exposed.lines())
          .as(m.name())
          .anyMatch(
              l ->
                  l.startsWith(m.exposedName())
                      && m.labels().stream().allMatch(label -> l.contains(label + "=")));
    }
    assertThat(exposed).contains("vgpu_scheduler_bind_in_flight 3.0");
  }
}
