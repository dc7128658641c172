package io.vgpu.control.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.control.metrics.ControlMeters.Part;
import io.vgpu.control.metrics.ControllerMeters.Outcome;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.TokenBucket;
import io.vgpu.model.Reason;
import io.vgpu.runtime.Lane;
import io.vgpu.testing.GeneratedDoc;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The pages of the control plane's metrics follow the code, and name what Prometheus sees. */
class MetricPagesTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @ParameterizedTest
  @EnumSource
  void thePageFollowsTheCode(Part part) {
    GeneratedDoc.check(MetricPage.file(part), MetricPage.of(part));
  }

  @Test
  void theExtenderServesWhatItsPageSays() {
    SchedulerMeters meters = new SchedulerMeters(registry);
    meters.verb(Verb.FILTER, Result.FIT, Duration.ofMillis(1));
    meters.reject(Verb.FILTER, Reason.DEVICE_UNHEALTHY);
    meters.placed(Wishes.NONE);
    Wishes together =
        Wishes.of(
            Map.of(
                Names.DEFAULT.deviceTopologyMode(), "link-strict",
                Names.DEFAULT.crossPodTopology(), "true"),
            Names.DEFAULT);
    meters.topology(together, "nvlink", "rail");
    meters.strictReject(together.topology(), 1);
    meters.linkSearch(true, 8);
    meters.victimsAdded(1);
    meters.victimProtected("daemonset");
    meters.count(ControlMeters.BIND_CONFLICT);
    meters.count(ControlMeters.BIND_RECHECK);
    meters.count(ControlMeters.DECISIONS_DROPPED);
    meters.count(ControlMeters.BIND_UNKNOWN);
    meters.count(ControlMeters.POD_UNCOUNTED);
    meters.count(ControlMeters.CARD_OVERCOMMITTED);
    meters.count(ControlMeters.CORDON_UNREADABLE);
    meters.inFlight(() -> 3);
    meters.workload(() -> 60);
    Vertx vertx = Vertx.vertx();
    new Lane(vertx, "scheduler", 1, Duration.ofSeconds(1), registry);
    vertx.close().toCompletionStage().toCompletableFuture().join();
    tellsOfEvents();
    both(Part.EXTENDER);
    assertThat(registry.scrape()).contains("vgpu_scheduler_bind_in_flight 3.0");
  }

  @Test
  void theWebhookServesWhatItsPageSays() {
    WebhookMeters meters = new WebhookMeters(registry);
    meters.answered(meters.review(), "/pods/mutate", "mended");
    both(Part.WEBHOOK);
  }

  @Test
  void theControllerServesWhatItsPageSays() {
    ControllerMeters meters = new ControllerMeters(registry);
    meters.leading(() -> true);
    meters.pending(() -> 2);
    meters.explanations(() -> 3);
    for (Outcome outcome : Outcome.values()) {
      meters.settled(outcome);
    }
    tellsOfEvents();
    both(Part.CONTROLLER);
    assertThat(registry.scrape())
        .contains("vgpu_controller_leading 1.0")
        .contains("vgpu_reschedule_pending 2.0")
        .contains("outcome=\"given-up\"");
    assertThat(ControlMeters.RESCHEDULE_PODS.description())
        .endsWith("replaced, evicted, skipped, name-taken, given-up");
  }

  private void tellsOfEvents() {
    KubeClient client = KubeClient.open(null, "http://127.0.0.1:9", Duration.ofSeconds(1));
    new KubeEvents(
            client.get(),
            "test",
            new TokenBucket(1, 1, System::nanoTime),
            Clock.systemUTC(),
            registry)
        .close();
    client.close();
  }

  private void both(Part part) {
    MetricPage.isWhollyIn(part, registry.scrape());
    MetricPage.namesAllOf(part, registry.scrape());
  }
}
