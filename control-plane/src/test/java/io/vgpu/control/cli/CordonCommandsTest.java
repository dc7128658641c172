package io.vgpu.control.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.InventoryCodec;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.ObjectApiServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code vgpu cordon}, {@code uncordon} and {@code drain} against a small API server. */
class CordonCommandsTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String NODES = "/api/v1/nodes";
  private static final String PODS = "/api/v1/namespaces/a/pods";
  private static final String EVENTS = "/api/v1/namespaces/a/events";

  private final ObjectApiServer api = new ObjectApiServer();

  @BeforeEach
  void aNodeOfThreeCards() {
    ObjectNode node = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Node");
    node.putObject("metadata")
        .put("name", "n1")
        .putObject("annotations")
        .put("example.com/other", "stays")
        .put("nvidia.com/node-device-register", InventoryCodec.encodeRegister(Nodes.u(3)));
    api.put(NODES, node);
  }

  @AfterEach
  void close() {
    api.close();
  }

  private VgpuRun run(String command, String... args) {
    List<String> all = new ArrayList<>(List.of(command, "--master", api.url()));
    all.addAll(List.of(args));
    return VgpuRun.of(all.toArray(new String[0]));
  }

  private JsonNode annotations() {
    return api.get(NODES, "n1").path("metadata").path("annotations");
  }

  private JsonNode cordon() {
    return JSON.readTree(annotations().path("nvidia.com/device-cordon").asString("{}"));
  }

  @Test
  void cardsAreNamedByIndexOrUuidAndOthersWordsStay() {
    VgpuRun first = run("cordon", "n1", "2", "--reason", "fan");
    assertThat(first.err()).isEmpty();
    assertThat(first.out()).isEqualTo("GPU 2 (GPU-card-2) cordoned\n");
    assertThat(run("cordon", "n1", "GPU-card-0").status()).isZero();
    assertThat(cordon().propertyNames()).containsExactly("GPU-card-2", "GPU-card-0");
    assertThat(cordon().path("GPU-card-2").path("reason").asString()).isEqualTo("fan");
    assertThat(cordon().path("GPU-card-0").path("mode").asString()).isEqualTo("cordon");
    assertThat(run("uncordon", "n1", "2").out()).isEqualTo("GPU 2 (GPU-card-2) uncordoned\n");
    assertThat(cordon().propertyNames()).containsExactly("GPU-card-0");
    assertThat(annotations().path("example.com/other").asString()).isEqualTo("stays");
  }

  @Test
  void noneNamedIsEveryCard() {
    assertThat(run("cordon", "n1").out().lines()).hasSize(3);
    assertThat(cordon().size()).isEqualTo(3);
    assertThat(run("uncordon", "n1").out().lines()).hasSize(3);
    assertThat(annotations().has("nvidia.com/device-cordon")).isFalse();
    assertThat(run("uncordon", "n1").out()).isEqualTo("nothing of this was cordoned\n");
  }

  @Test
  void unknownNodesAndCardsAreRefusedByName() {
    assertThat(run("cordon", "n1", "GPU-crad-1").err())
        .isEqualTo(
            "vgpu cordon: GPU \"GPU-crad-1\": node n1 has no such card (nearest known: GPU-card-1)\n");
    assertThat(run("drain", "n2").err()).isEqualTo("vgpu drain: node \"n2\": not found\n");
    assertThat(annotations().has("nvidia.com/device-cordon")).isFalse();
  }

  @Test
  void aChangeByOthersMeanwhileIsReadAndKept() {
    api.fail(new ObjectApiServer.Fault(r -> r.equals("PATCH " + NODES + "/n1"), 409, false));
    assertThat(run("cordon", "n1", "1").status()).isZero();
    assertThat(cordon().propertyNames()).containsExactly("GPU-card-1");
    assertThat(api.requests().stream().filter(r -> r.equals("GET " + NODES + "/n1"))).hasSize(2);
  }

  @Test
  void aDrainTellsWhatItWaitsForAndWhatStays() {
    String uid = api.put(PODS, pod("held", "GPU-card-1")).path("metadata").path("uid").asString();
    ObjectNode daemon = pod("daemon", "GPU-card-1");
    daemon
        .withObject("/metadata")
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", "apps/v1")
        .put("kind", "DaemonSet")
        .put("name", "d")
        .put("uid", "d")
        .put("controller", true);
    api.put(PODS, daemon);
    api.put(PODS, pod("beside", "GPU-card-0"));
    VgpuRun waits = run("drain", "n1", "1", "--timeout", "0");
    assertThat(waits.status()).isEqualTo(1);
    assertThat(waits.out())
        .isEqualTo(
            "GPU 1 (GPU-card-1) is being drained\n"
                + "pod a/daemon: stays: it is a DaemonSet's\n"
                + "pod a/held: waits for the controller\n");
    assertThat(waits.err()).isEqualTo("node n1: 1 pods still hold the GPUs; the drain goes on\n");
    assertThat(cordon().path("GPU-card-1").path("mode").asString()).isEqualTo("drain");
    event(uid);
    assertThat(run("drain", "n1", "1", "--timeout", "0").out())
        .contains("pod a/held: EvictionRefused: a disruption budget forbids it now\n");
    api.remove(PODS, "held");
    VgpuRun done = run("drain", "n1", "1");
    assertThat(done.status()).isZero();
    assertThat(done.out()).endsWith("node n1: drained\n").doesNotContain("a/held", "a/beside");
  }

  @Test
  void aDrainNeedNotBeWaitedFor() {
    api.put(PODS, pod("held", "GPU-card-1"));
    assertThat(run("drain", "n1", "--no-wait").status()).isZero();
    assertThat(cordon().size()).isEqualTo(3);
  }

  private void event(String uid) {
    ObjectNode event = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Event");
    event.putObject("metadata").put("name", "e");
    event.putObject("involvedObject").put("uid", uid);
    event.putObject("source").put("component", "vgpu-manager-controller");
    event.put("reason", "EvictionRefused").put("message", "a disruption budget forbids it now");
    event.put("lastTimestamp", "2026-01-01T00:00:00Z");
    api.put(EVENTS, event);
  }

  private static ObjectNode pod(String name, String card) {
    ObjectNode pod = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Pod");
    pod.putObject("metadata")
        .put("name", name)
        .putObject("annotations")
        .put("nvidia.com/pre-allocated", "c[0_" + card + "_10_1]");
    pod.putObject("spec").put("nodeName", "n1");
    pod.putObject("status").put("phase", "Running");
    return pod;
  }
}
