package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.FakeObjects;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What nobody should send and somebody will: the others are served all the same. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class BadCallersIT {
  @TempDir Path folder;
  private FakeApiServer api;
  private RunningExtender extender;

  @BeforeEach
  void start() throws IOException {
    api = new FakeApiServer();
    api.node(Nodes.record("n1", Nodes.m4(), NodeConfig.DEFAULT));
    extender = new RunningExtender(api, folder, "TopologyAwareGPUAllocation=true");
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode pod(String name, Pods pod) {
    return api.pod(name, pod.request().demand(), Map.of());
  }

  private void isServed(String name) throws Exception {
    ObjectNode pod = pod(name, Pods.of(1, 1, 1));
    assertThat(
            SchedulerClient.strings(extender.client().filter(pod, List.of("n1")).get("NodeNames")))
        .containsExactly("n1");
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), extender.port());
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  @Test
  void bodiesThatStopHalfway() throws Exception {
    List<Socket> open = new ArrayList<>();
    for (String verb :
        List.of("filter", "prioritize", "bind", "preempt", "filter-dryrun", "filter-dryrun")) {
      Socket socket = connect();
      send(
          socket,
          "POST /scheduler/"
              + verb
              + " HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"Pod\":");
      open.add(socket);
    }
    isServed("p1");
    for (Socket socket : open) {
      socket.close();
    }
    // the turn of the dry runs that went away is free again
    ObjectNode pod = pod("p2", Pods.of(1, 1, 1));
    JsonNode dry =
        extender.client().dryRun(pod, List.of(Nodes.record("new", Nodes.u(1), NodeConfig.DEFAULT)));
    assertThat(dry.get("Nodes").get("items").size()).isEqualTo(1);
  }

  @Test
  void aThousandConnectionsThatSayNothing() throws Exception {
    List<Socket> open = new ArrayList<>();
    try {
      for (int i = 0; i < 1_000; i++) {
        open.add(connect());
      }
      isServed("p");
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  @Test
  void aDryRunOverItsLimitAndOneOfNamesOnly() throws Exception {
    try (Socket socket = connect()) {
      send(
          socket,
          "POST /scheduler/filter-dryrun HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n");
      socket.setSoTimeout(20_000);
      StringBuilder answer = new StringBuilder();
      while (answer.indexOf("MiB)") < 0) {
        int read = socket.getInputStream().read();
        assertThat(read).as("more than %s", answer).isNotNegative();
        answer.append((char) read);
      }
      assertThat(answer.toString()).startsWith("HTTP/1.1 413").contains("67108864 bytes (64 MiB)");
    }
    ObjectNode pod = pod("p", Pods.of(1, 1, 1));
    String names =
        extender
            .client()
            .call("/scheduler/filter-dryrun", SchedulerClient.args(pod, List.of("n1")))
            .body();
    assertThat(names).contains("nodeCacheCapable=false");
    assertThat(extender.client().call("/scheduler/filter-dryrun", "{\"Nodes\":[").body())
        .contains("Nodes: must be a JSON object");
    assertThat(extender.client().call("/scheduler/filter-dryrun", "nonsense").body())
        .contains("not JSON");
  }

  @Test
  void aDryRunGivesNodesBackAsTheyCame() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 1, 1));
    ObjectNode node = FakeObjects.node(Nodes.record("n\u00e4w", Nodes.u(1), NodeConfig.DEFAULT));
    node.put("odd", "\u20ac and \"quotes\"");
    ObjectNode args = ExtenderJson.JSON.createObjectNode();
    args.put("ignored", "x").set("Pod", pod);
    ObjectNode list = args.putObject("Nodes");
    list.put("kind", "NodeList").putArray("items").add(node).addObject();
    list.putObject("metadata").put("resourceVersion", "7");
    JsonNode answer =
        ExtenderJson.JSON.readTree(
            extender.client().call("/scheduler/filter-dryrun", args.toString()).body());
    assertThat(answer.get("Nodes").get("items").get(0)).isEqualTo(node);
    assertThat(answer.get("Nodes").get("metadata").get("resourceVersion").asString())
        .isEqualTo("7");
    assertThat(answer.get("Nodes").get("items").size()).isEqualTo(1);
  }

  @Test
  void longNodeNamesAndCardsWithGapsInTheirNumbers() throws Exception {
    String name = "n".repeat(200);
    List<GpuDevice> gaps =
        List.of(
            Nodes.card(1, "NVIDIA A10", 24000, 10, 0),
            Nodes.card(5, "NVIDIA A10", 24000, 10, 0),
            Nodes.card(9, "NVIDIA A10", 24000, 10, 1));
    NodeRecord plain = Nodes.record(name, gaps, NodeConfig.DEFAULT);
    api.node(
        new NodeRecord(
            name,
            plain.allocatable(),
            plain.register(),
            plain.config(),
            plain.host(),
            "[{\"index\":5,\"links\":{\"9\":[8],\"7\":[8]}},{\"index\":9,\"links\":{\"5\":[8]}}]",
            "{\"GPU-card-5\":7}"));
    ObjectNode pod =
        api.pod(
            "p",
            Pods.of(2, 10, 1000).request().demand(),
            Map.of(Names.DEFAULT.deviceTopologyMode(), "link-strict"));
    while (!SchedulerClient.strings(extender.client().filter(pod, List.of(name)).get("NodeNames"))
        .equals(List.of(name))) {
      Thread.onSpinWait();
    }
    assertThat(extender.client().bind(pod, name)).isEmpty();
    assertThat(FakeObjects.annotations(api.read("p")))
        .containsEntry(Names.DEFAULT.predicateNode(), name)
        .containsEntry(
            Names.DEFAULT.preAllocated(), "c1[5_GPU-card-5_10_1000,9_GPU-card-9_10_1000]");
  }

  @Test
  void aTopologyThatCannotBeReadIsSaidSo() throws Exception {
    NodeRecord plain = Nodes.record("odd", Nodes.u(2), NodeConfig.DEFAULT);
    api.node(
        new NodeRecord(
            "odd",
            plain.allocatable(),
            plain.register(),
            plain.config(),
            plain.host(),
            "{\"no\":\"list\"}",
            null));
    ObjectNode pod =
        api.pod(
            "p",
            Pods.of(2, 10, 1000).request().demand(),
            Map.of(Names.DEFAULT.deviceTopologyMode(), "link-strict"));
    String said;
    do {
      said =
          extender.client().filter(pod, List.of("odd")).get("FailedNodes").path("odd").asString("");
    } while (said.contains("missing from cache"));
    assertThat(said)
        .contains("node has no GPU link topology", "node-device-topology: must be a JSON array");
  }

  @Test
  void anUnknownKeyOfOursIsToldToTheUser() throws Exception {
    ObjectNode pod =
        api.pod(
            "p",
            Pods.of(1, 10, 1000).request().demand(),
            Map.of(
                "nvidia.com/include-gpu-typ", "A10",
                "nvidia.com/vgpu-compute-policy", "balance",
                "example.com/include-gpu-typ", "x"));
    extender.client().filter(pod, List.of("n1"));
    assertThat(extender.client().bind(pod, "n1")).isEmpty();
    String wanted =
        "unknown annotation \"nvidia.com/include-gpu-typ\" (nearest known:"
            + " nvidia.com/include-gpu-type); Successfully bound";
    while (api.events().stream().noneMatch(e -> e.path("message").asString().startsWith(wanted))) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SerializedNodeFilter=true,SerializedNodeBind=true",
        "SerializedNodeFilter=false,SerializedNodeBind=false"
      })
  void eitherValueOfBothGatesServes(String gates) throws Exception {
    try (RunningExtender other = new RunningExtender(api, folder, gates)) {
      ObjectNode pod = pod("gated", Pods.of(1, 1, 1));
      assertThat(
              SchedulerClient.strings(other.client().filter(pod, List.of("n1")).get("NodeNames")))
          .containsExactly("n1");
      assertThat(other.client().bind(pod, "n1")).isEmpty();
    }
  }
}
