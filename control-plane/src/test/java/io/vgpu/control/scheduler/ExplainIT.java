package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.cli.VgpuRun;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.NodeConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Why a pod is where it is, or nowhere: kept by the extender, asked for by people. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ExplainIT {
  private static final List<String> ALL = List.of("n1", "n2");

  @TempDir Path folder;
  private FakeApiServer api;
  private RunningExtender extender;

  @BeforeEach
  void start() throws Exception {
    api = new FakeApiServer();
    ALL.forEach(n -> api.node(Nodes.record(n, Nodes.m4(), NodeConfig.DEFAULT)));
    extender = new RunningExtender(api, folder, "");
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode pod(String name, Pods pod) {
    return api.pod(
        name, pod.request().demand(), Map.of(Names.DEFAULT.nodeSchedulerPolicy(), "binpack"));
  }

  private JsonNode page(String pod) throws Exception {
    try (SchedulerClient ops = new SchedulerClient(extender.opsPort())) {
      return ExtenderJson.JSON.readTree(ops.call("/explain/ns/" + pod, null).body());
    }
  }

  @Test
  void aPodThatWaitsIsToldWhatWouldHelpAndThatIsTrue() throws Exception {
    ObjectNode big = pod("big", Pods.of(1, 10, 20481));
    extender.client().filter(big, ALL);
    JsonNode now = page("big").get("now").get("nodes").get(0);
    assertThat(now.get("reason").asString()).isEqualTo("Insufficient vGPU memory");
    JsonNode limit = now.get("wouldFitWith").get(0);
    assertThat(limit.get("resource").asString()).isEqualTo("vgpu-memory");
    assertThat(limit.get("atMost").asLong()).isEqualTo(20480);
    ObjectNode smaller = pod("smaller", Pods.of(1, 10, limit.get("atMost").asLong()));
    assertThat(SchedulerClient.strings(extender.client().filter(smaller, ALL).get("NodeNames")))
        .isEqualTo(ALL);
  }

  @Test
  void aBoundPodHasAReasonForEachNodeAndEachCard() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 10, 15000));
    extender.client().filter(pod, List.of("n1", "n2", "nX"));
    extender.client().prioritize(pod, ALL);
    assertThat(extender.client().bind(pod, "n1")).isEmpty();
    JsonNode page = page("p");
    assertThat(page.get("filter").get("reasons").get("NodeCacheMiss").asInt()).isEqualTo(1);
    assertThat(page.get("ranking").get("nodes").get(0).get("level").asInt()).isEqualTo(10);
    assertThat(page.get("ranking").get("nodes").get(0).get("parts").asString())
        .contains("memory 0+15000/65536");
    JsonNode devices = page.get("bind").get("containers").get(0).get("devices");
    assertThat(devices.valueStream().map(d -> d.get("card").asInt()))
        .containsExactlyInAnyOrder(0, 1, 2, 3);
    assertThat(devices.get(0).get("given").asBoolean()).isTrue();
    assertThat(devices.get(0).get("why").asString()).isEqualTo("place 1 of 2 by none");
    assertThat(devices.valueStream().filter(d -> d.get("card").asInt() == 0).findFirst())
        .hasValueSatisfying(
            d -> assertThat(d.get("why").asString()).isEqualTo("Insufficient vGPU memory"));
    assertThat(page.has("now")).isFalse();
  }

  @Test
  void whoeverIsNotKnownIsNotFound() throws Exception {
    try (SchedulerClient ops = new SchedulerClient(extender.opsPort())) {
      assertThat(ops.call("/explain/ns/nobody", null).statusCode()).isEqualTo(404);
      assertThat(ops.call("/explain/ns", null).statusCode()).isEqualTo(404);
      assertThat(ops.call("/explain/ns/a/b", null).statusCode()).isEqualTo(404);
    }
  }

  @Test
  void theCommandsPrintTablesAndJson() throws Exception {
    ObjectNode big = pod("big", Pods.of(1, 10, 20481));
    extender.client().filter(big, ALL);
    String url = "--scheduler-url=http://127.0.0.1:" + extender.opsPort();
    String master = "--master=" + api.url();
    VgpuRun table = VgpuRun.of("why-pending", "ns/big", master, url);
    assertThat(table.status()).isZero();
    assertThat(table.out())
        .contains("0/2 nodes are available: 2 Insufficient vGPU memory (n1,n2).")
        .contains("NODE  NOW", "c1 vgpu-memory 20480 (asks 20481)");
    VgpuRun json = VgpuRun.of("why-pending", "ns/big", master, url, "-o", "json");
    assertThat(ExtenderJson.JSON.readTree(json.out()).path("pod").path("name").asString())
        .isEqualTo("big");

    ObjectNode pod = pod("p", Pods.of(1, 10, 1000));
    extender.client().filter(pod, ALL);
    extender.client().bind(pod, "n2");
    VgpuRun story = VgpuRun.of("explain", "pod", "ns/p", master, url);
    assertThat(story.out())
        .contains("node       n2", "claim      c1: card 0", "card       c1: 0 given, place 1 of 4");
    VgpuRun asJson = VgpuRun.of("explain", "pod", "p", "-n", "ns", master, url, "-o", "json");
    JsonNode read = ExtenderJson.JSON.readTree(asJson.out());
    assertThat(read.path("claim").asString()).startsWith("c1[0_");
    assertThat(read.path("decision").path("bind").path("node").asString()).isEqualTo("n2");
  }

  @Test
  void theSchedulerIsFoundThroughTheApiServer() throws Exception {
    extender.client().filter(pod("big", Pods.of(1, 10, 20481)), ALL);
    VgpuRun none = VgpuRun.of("why-pending", "ns/big", "--master=" + api.url());
    assertThat(none.status()).isEqualTo(1);
    assertThat(none.err())
        .contains(
            "no pod vgpu-manager-scheduler-* in namespace kube-system",
            "no pod vgpu-manager-controller-*");
    api.scheduler("vgpu-manager-scheduler-0", extender.opsPort());
    VgpuRun found = VgpuRun.of("why-pending", "ns/big", "--master=" + api.url());
    assertThat(found.err()).isEmpty();
    assertThat(found.out()).contains("c1 vgpu-memory 20480 (asks 20481)");
    VgpuRun unknown = VgpuRun.of("why-pending", "ns/nobody", "--master=" + api.url());
    assertThat(unknown.err()).contains("vgpu-manager-scheduler-0 knows nothing of it");
  }

  @Test
  void wrongWordsAreNamed() {
    String master = "--master=" + api.url();
    assertThat(VgpuRun.of("explain", "pod", "a/b/c", master).err())
        .contains("pod \"a/b/c\": must be NAME or NAMESPACE/NAME");
    assertThat(VgpuRun.of("why-pending", "a/b", "-o", "yaml", master).err())
        .contains("--output \"yaml\": must be table or json");
    assertThat(VgpuRun.of("explain", "pod", "ns/nobody", master).err())
        .contains("pod ns/nobody: not found");
  }
}
