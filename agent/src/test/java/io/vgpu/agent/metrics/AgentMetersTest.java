package io.vgpu.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.testing.Built;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.NodeConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AgentMetersTest {
  /** {@code mvn -pl agent test -Dtest=AgentMetersTest -Dregenerate} writes the page anew. */
  @Test
  void theDocumentationIsMadeFromTheList() throws IOException {
    Path page = Built.docs("metrics-agent.md");
    String wanted = page();
    if (System.getProperty("regenerate") != null) {
      Files.writeString(page, wanted);
    }
    assertThat(page).hasContent(wanted);
  }

  private static String page() {
    return """
        # Metrics of the agent

        Generated from `AgentMeters` and `DeviceMeters`. Served at `/metrics` of port 3458. Every series also carries `service="vGPU"`. A timer
        has `_count`, `_sum` and `_max`. A scrape reads what is in memory and calls no driver; what is not known has no series.
        The names of cards and containers are those of the original; beside them stands the same in base units (seconds, bytes,
        ratios from 0 to 1) as `vgpu_card_*` and `vgpu_container_*`.

        | Name | Kind | Labels | Meaning |
        |---|---|---|---|
        """
        + Stream.<Meter>concat(
                Arrays.stream(AgentMeters.values()), Arrays.stream(DeviceMeters.values()))
            .map(
                m ->
                    "| `"
                        + m.exposedName()
                        + "` | "
                        + m.kind().name().toLowerCase(Locale.ROOT)
                        + " | "
                        + String.join(", ", m.labels())
                        + " | "
                        + m.meaning()
                        + " |\n")
            .collect(Collectors.joining());
  }

  @Test
  void cardsAreShownFromTheLastSamples() {
    FakeGpuDriver driver = new FakeGpuDriver(2);
    NodeGpus gpus =
        new NodeGpus(
            driver.discover(),
            new NodeConfig(10, 1, 1, 1.5),
            Optional.empty(),
            DeviceSelection.parse("1"));
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry
        .getPrometheusRegistry()
        .register(new CardSeries("n1", driver.info(), gpus, new CardSamples(), System::nanoTime));

    String scrape = registry.scrape();

    assertThat(scrape)
        .contains(
            "node_gpu_device_configuration_info{cores_scaling=\"1.00\",device_split=\"10\",memory_factor=\"1\",memory_scaling=\"1.50\",node=\"n1\",service=\"vGPU\"} 1")
        .contains(
            "node_gpu_device_driver_version_info{cuda_version=\"12040\",driver_version=\"550.163.01\",node=\"n1\"")
        .containsPattern("physical_gpu_device_health_status\\{[^}]*device_idx=\"0\"[^}]*\\} 1.0")
        .containsPattern("physical_gpu_device_health_status\\{[^}]*device_idx=\"1\"[^}]*\\} 0.0")
        .contains("node_vgpu_device_total_memory_in_bytes{node=\"n1\",service=\"vGPU\"} 1.28849018")
        .contains("# TYPE vgpu_device_total_cores_number gauge")
        .doesNotContain("physical_gpu_device_memory_usage_in_bytes{"); // no sample yet
  }

  @Test
  void everyLabelOfACounterMustBeGiven() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    AgentMeters.CARD_SAMPLES.counter(registry, "0", "ok").increment();
    assertThat(registry.scrape())
        .contains("vgpu_card_samples_total{device_idx=\"0\",outcome=\"ok\"} 1.0");
    assertThatThrownBy(() -> AgentMeters.CARD_SAMPLES.counter(registry, "0"))
        .hasMessageContaining("vgpu_card_samples_total");
    assertThatThrownBy(() -> AgentMeters.CARD_SUSPECT.counter(registry))
        .hasMessageContaining("is a GAUGE");
  }
}
