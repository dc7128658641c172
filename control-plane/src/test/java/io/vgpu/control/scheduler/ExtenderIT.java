package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControlMeters.Part;
import io.vgpu.control.metrics.MetricPage;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.FakeApiServer.Fate;
import io.vgpu.control.testing.FakeObjects;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.NodeConfig;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The verbs over HTTP, against an API server in the JVM: control-plane.md 1.1 and 4.1, and the rows
 * 1 (every node that fits), 71 to 74 of 8 as their bind counterparts (D1).
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ExtenderIT {
  private static final List<String> ALL = List.of("n1", "n2", "n3");

  @TempDir Path folder;
  private FakeApiServer api;
  private RunningExtender extender;
  private SchedulerClient client;

  @BeforeEach
  void start() throws IOException {
    api = new FakeApiServer();
    ALL.forEach(n -> api.node(Nodes.record(n, Nodes.m4(), NodeConfig.DEFAULT)));
    extender = new RunningExtender(api, folder, "SerializedNodeFilter=false");
    client = extender.client();
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode pod(String name, Pods pod) {
    return pod(name, pod, Map.of());
  }

  private ObjectNode pod(String name, Pods pod, Map<String, String> annotations) {
    return api.pod(name, pod.request().demand(), annotations);
  }

  private List<String> eventsOf(String pod) {
    return api.events().stream()
        .filter(e -> e.path("involvedObject").path("name").asString().equals(pod))
        .map(e -> e.path("reason").asString() + ": " + e.path("message").asString())
        .toList();
  }

  private void awaitEvent(String pod, String text) {
    while (eventsOf(pod).stream().noneMatch(e -> e.contains(text))) {
      Thread.onSpinWait();
    }
  }

  private long requests(String verb, String pathPart) {
    return api.calls().stream()
        .filter(c -> c.verb().equals(verb) && c.path().contains(pathPart))
        .count();
  }

  @Test
  void row1EveryNodeThatFitsAndOneBinding() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 0, 2048));
    long lists = requests("GET", "");
    JsonNode filtered = client.filter(pod, ALL);
    assertThat(SchedulerClient.strings(filtered.get("NodeNames"))).isEqualTo(ALL);
    assertThat(filtered.get("FailedNodes").size()).isZero();
    assertThat(filtered.get("Error").asString()).isEmpty();
    assertThat(requests("POST", "")).isZero();

    assertThat(client.bind(pod, "n2")).isEmpty();
    ObjectNode bound = api.read("p");
    assertThat(bound.path("spec").path("nodeName").asString()).isEqualTo("n2");
    assertThat(FakeObjects.annotations(bound))
        .containsEntry(Names.DEFAULT.preAllocated(), "c1[0_GPU-card-0_0_2048]")
        .containsEntry(Names.DEFAULT.predicateNode(), "n2")
        .containsKeys(Names.DEFAULT.claimHmac(), Names.DEFAULT.predicateTime());
    awaitEvent("p", "BindingSucceed: Successfully bound pod \"ns/p\" to node \"n2\"");
    assertThat(eventsOf("p")).hasSize(1);
    assertThat(requests("POST", "/pods/p/binding")).isEqualTo(1);
    assertThat(requests("GET", "")).as("no LIST and no GET for a pod").isEqualTo(lists);
    while (extender.placed().isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(extender.placed())
        .singleElement()
        .satisfies(
            p -> {
              assertThat(p.node()).isEqualTo("n2");
              assertThat(p.explanation()).contains("node n2", "container c1: card 0");
            });
  }

  @Test
  void row71AHeldPodMeetsTheSameNodesAgainAndRow72WithoutItsBest() throws Exception {
    api.node(Nodes.record("q1", Nodes.u(1), NodeConfig.DEFAULT));
    api.node(Nodes.record("q2", Nodes.u(1), NodeConfig.DEFAULT));
    List<String> both = List.of("q1", "q2");
    ObjectNode pod =
        pod("held", Pods.of(1, 0, 0), Map.of(Names.DEFAULT.nodeSchedulerPolicy(), "binpack"));
    awaitFit(pod, both);
    assertThat(client.prioritize(pod, both)).containsEntry("q1", 10).containsEntry("q2", 9);
    assertThat(SchedulerClient.strings(client.filter(pod, both).get("NodeNames"))).isEqualTo(both);
    assertThat(SchedulerClient.strings(client.filter(pod, List.of("q2")).get("NodeNames")))
        .containsExactly("q2");

    client.prioritize(pod, both);
    ObjectNode other = pod("other", Pods.of(1, 0, 0));
    JsonNode filtered = client.filter(other, both);
    assertThat(SchedulerClient.strings(filtered.get("NodeNames"))).containsExactly("q2");
    assertThat(filtered.get("FailedNodes").get("q1").asString()).startsWith("Insufficient");
    // a hold is a courtesy: it does not stand against a choice that is made
    assertThat(client.bind(other, "q1")).isEmpty();
  }

  private void awaitFit(ObjectNode pod, List<String> nodes) throws Exception {
    while (!SchedulerClient.strings(client.filter(pod, nodes).get("NodeNames")).equals(nodes)) {
      Thread.onSpinWait();
    }
  }

  @Test
  void row73OnlyBoundAndLivingPodsCount() throws Exception {
    api.node(Nodes.record("q1", Nodes.u(1), NodeConfig.DEFAULT));
    ObjectNode probe = pod("probe", Pods.of(1, 0, 0));
    awaitFit(probe, List.of("q1"));
    ObjectNode whole = pod("whole", Pods.of(1, 0, 0));
    client.filter(whole, List.of("n1"));
    assertThat(client.bind(whole, "q1")).isEmpty();
    assertThat(SchedulerClient.strings(client.filter(probe, List.of("q1")).get("NodeNames")))
        .isEmpty();
    api.phase("whole", "Succeeded");
    awaitFit(probe, List.of("q1"));
    api.delete("whole");

    pod(
        "forged",
        Pods.of(1, 0, 0),
        Map.of(
            Names.DEFAULT.preAllocated(), "c1[0_GPU-card-0_100_24000]",
            Names.DEFAULT.predicateNode(), "q1",
            Names.DEFAULT.claimHmac(), "c1=00"));
    api.breakWatches();
    assertThat(SchedulerClient.strings(client.filter(probe, List.of("q1")).get("NodeNames")))
        .containsExactly("q1");
  }

  @Test
  void row74BindSaysWhy() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 100, 1000));
    client.filter(pod, ALL);
    assertThat(client.bind(pod, "")).isEqualTo("ExtenderBindingArgs.Node cannot be empty");
    assertThat(client.bind("gone", "uid-gone", "n1")).isEqualTo("pods \"gone\" not found");
    assertThat(client.bind("p", "uid-else", "n1"))
        .isEqualTo("different uid \"uid-else\" from the target pod");
    assertThat(client.bind(pod, "n1")).isEmpty();
    assertThat(client.bind("p", "uid-p", "n2")).isEqualTo("pod has been bound to node \"n1\"");

    for (int i = 0; i < 3; i++) {
      ObjectNode more = pod("more" + i, Pods.of(1, 100, 1000));
      client.filter(more, ALL);
      assertThat(client.bind(more, "n1")).isEmpty();
    }
    ObjectNode late = pod("late", Pods.of(1, 10, 1000));
    client.filter(late, ALL);
    assertThat(client.bind(late, "n1"))
        .isEqualTo("Insufficient vGPU cores [need 10 cores, available 0]");
    awaitEvent("late", "BindingFailed: Insufficient vGPU cores");
    assertThat(api.read("late").path("spec").has("nodeName")).isFalse();
    assertThat(FakeObjects.annotations(api.read("late"))).isEmpty();
  }

  @Test
  void badRequestsGetAReasonOnThePod() throws Exception {
    Map<String, Pods> bad =
        Map.of(
            "cores101", Pods.of(1, 101, 0),
            "number17", Pods.of(17, 0, 0),
            "negative", Pods.of(-1, 10, 0),
            "huge", Pods.of(1, 0, Long.MAX_VALUE),
            "nonumber", Pods.of(0, 20, 0),
            "fewer", new Pods().init(2, 10, 100).app(1, 10, 100));
    Map<String, String> reasons =
        Map.of(
            "cores101", "requests vGPU core exceeding limit",
            "number17", "requests vGPU number exceeding limit",
            "negative", "must not be negative",
            "huge", "requests vGPU memory exceeding limit",
            "nonumber", "without vgpu-number",
            "fewer", "must ask for at least 2");
    for (Map.Entry<String, Pods> e : bad.entrySet()) {
      ObjectNode pod = pod(e.getKey(), e.getValue());
      JsonNode answer = client.filter(pod, ALL);
      assertThat(answer.get("Error").asString()).contains(reasons.get(e.getKey()));
      assertThat(client.bind(pod, "n1")).contains(reasons.get(e.getKey()));
      awaitEvent(e.getKey(), "ResourceInvalid: ");
    }
    assertThat(requests("POST", "/binding")).isZero();
  }

  @Test
  void aPodThatFitsNowhereIsToldOnce() throws Exception {
    ObjectNode pod = pod("big", Pods.of(1, 10, 65536));
    for (int i = 0; i < 3; i++) {
      JsonNode answer = client.filter(pod, List.of("n1", "n2", "nX"));
      assertThat(answer.get("FailedNodes").get("n1").asString())
          .isEqualTo("Insufficient vGPU memory");
      assertThat(answer.get("FailedNodes").get("nX").asString())
          .isEqualTo("node missing from cache");
    }
    awaitEvent(
        "big",
        "FilteringFailed: 0/3 nodes are available: 2 Insufficient vGPU memory (n1,n2), "
            + "1 node missing from cache (nX).");
    ObjectNode marker = pod("marker", Pods.of(1, 1, 1));
    client.filter(marker, ALL);
    client.bind(marker, "n1");
    awaitEvent("marker", "BindingSucceed");
    assertThat(eventsOf("big")).hasSize(1);
  }

  @Test
  void oneEventEvenWhereThereIsMoreToSay() throws Exception {
    ObjectNode pod =
        pod(
            "p",
            Pods.of(3, 10, 1000),
            Map.of(
                Names.DEFAULT.deviceTopologyMode(), "numa",
                Names.DEFAULT.nodeSchedulerPolicy(), "densest"));
    client.filter(pod, ALL);
    assertThat(client.bind(pod, "n1")).isEmpty();
    awaitEvent("p", "PolicyInvalid: unsupported node scheduling policy \"densest\"");
    assertThat(eventsOf("p"))
        .singleElement()
        .asString()
        .contains("NUMA topology", "Successfully bound pod \"ns/p\" to node \"n1\"");
  }

  @Test
  void strictTopologyIsRefusedInWords() throws Exception {
    ObjectNode pod =
        pod("p", Pods.of(1, 10, 1000), Map.of(Names.DEFAULT.deviceTopologyMode(), "link-strict"));
    JsonNode answer = client.filter(pod, ALL);
    assertThat(SchedulerClient.strings(answer.get("NodeNames"))).isEmpty();
    assertThat(answer.get("FailedNodes").get("n1").asString())
        .contains("Link topology unsatisfied", "node has no GPU link topology");
  }

  @Test
  void aPodWithoutVgpuPassesThrough() throws Exception {
    ObjectNode pod = pod("plain", Pods.of(0, 0, 0));
    assertThat(SchedulerClient.strings(client.filter(pod, ALL).get("NodeNames"))).isEqualTo(ALL);
    assertThat(client.prioritize(pod, ALL).values()).containsOnly(0);
    assertThat(client.bind(pod, "n3")).isEmpty();
    assertThat(FakeObjects.annotations(api.read("plain"))).isEmpty();
  }

  @Test
  void aChangedPodIsPlannedOnceMore() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 10, 1000));
    client.filter(pod, ALL);
    api.touch("p");
    assertThat(client.bind(pod, "n1")).isEmpty();
    assertThat(requests("POST", "/pods/p/binding")).isEqualTo(2);

    ObjectNode restless = pod("restless", Pods.of(1, 10, 1000));
    client.filter(restless, ALL);
    api.fate(p -> Fate.CHANGED);
    assertThat(client.bind(restless, "n1")).contains("Precondition failed");
    assertThat(requests("POST", "/pods/restless/binding")).isEqualTo(2);
    api.fate(p -> Fate.KEPT);
    client.filter(api.read("restless"), ALL);
    assertThat(client.bind(restless, "n1")).isEmpty();
  }

  @Test
  void aLostAnswerIsReadFromTheApi() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 10, 1000));
    client.filter(pod, ALL);
    api.fate(p -> Fate.ANSWER_LOST);
    assertThat(client.bind(pod, "n1")).isEmpty();

    ObjectNode echoed = pod("echoed", Pods.of(1, 10, 1000));
    client.filter(echoed, ALL);
    api.fate(p -> Fate.ECHOED);
    assertThat(client.bind(echoed, "n1")).isEmpty();
  }

  @Test
  void aLostRequestKeepsItsCardsAndItsPlan() throws Exception {
    api.node(Nodes.record("q1", Nodes.u(1), NodeConfig.DEFAULT));
    ObjectNode pod = pod("p", Pods.of(1, 0, 0));
    ObjectNode rival = pod("rival", Pods.of(1, 0, 0));
    awaitFit(pod, List.of("q1"));
    api.fate(p -> Fate.REQUEST_LOST);
    assertThat(client.bind(pod, "q1")).startsWith("outcome of the Binding is unknown");
    api.fate(p -> Fate.KEPT);
    assertThat(client.bind(rival, "q1")).startsWith("Insufficient");
    client.filter(pod, List.of("q1"));
    assertThat(client.bind(pod, "q1")).isEmpty();
  }

  @Test
  void fullNodesComeBackAsNodes() throws Exception {
    ObjectNode args =
        (ObjectNode)
            ExtenderJson.JSON.readTree(
                SchedulerClient.args(pod("p", Pods.of(1, 10, 1000)), List.of()));
    args.putNull("NodeNames");
    ObjectNode list = args.putObject("Nodes");
    list.put("kind", "NodeList");
    for (String n : List.of("n1", "unknown")) {
      list.withArray("items").addObject().putObject("metadata").put("name", n);
    }
    JsonNode answer =
        ExtenderJson.JSON.readTree(client.call("/scheduler/filter", args.toString()).body());
    assertThat(answer.get("NodeNames").isNull()).isTrue();
    assertThat(answer.get("Nodes").get("kind").asString()).isEqualTo("NodeList");
    assertThat(answer.get("Nodes").get("items").size()).isEqualTo(1);
    assertThat(answer.get("FailedNodes").get("unknown").asString())
        .isEqualTo("node not vGPU-enabled");
  }

  @Test
  void fieldNamesAreReadAsGoReadsThem() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 10, 1000));
    String body = "{\"pod\":" + pod + ",\"nodenames\":[\"n1\"]}";
    assertThat(client.call("/scheduler/filter", body).body()).contains("\"NodeNames\":[\"n1\"]");
  }

  @Test
  void theTableOfWrongBodies() throws Exception {
    assertThat(answer("/scheduler/filter", "{")).startsWith("200 {").contains("not JSON");
    assertThat(answer("/scheduler/bind", "[]"))
        .startsWith("200 {")
        .contains("must be a JSON object");
    assertThat(answer("/scheduler/prioritize", "{")).startsWith("400 ");
    assertThat(answer("/scheduler/filter", "")).isEqualTo("400 Please send a request body\n");
    assertThat(answer("/scheduler/filter", "{}")).contains("extenderArgs.Pod cannot be empty");
    assertThat(answer("/scheduler/filter", " ".repeat(2 * 1024 * 1024 + 1)))
        .startsWith("413 ")
        .contains("2097152");
    assertThat(answer("/scheduler/filter", null)).startsWith("405 ");
    assertThat(answer("/scheduler/nothing", "{}")).startsWith("404 ");
    assertThat(answer("/healthz", null)).isEqualTo("200 ok");
    assertThat(answer("/readyz", null)).isEqualTo("200 ok");
    assertThat(answer("/version", null)).startsWith("200 ");
  }

  private String answer(String path, @Nullable String body) throws Exception {
    HttpResponse<String> response = client.call(path, body);
    return response.statusCode() + " " + response.body();
  }

  @Test
  void anAllocationThatWouldNotFitTheAnnotationsIsRefused() throws Exception {
    ObjectNode pod = pod("p", Pods.of(1, 10, 1000), Map.of("big", "x".repeat(262_100)));
    client.filter(pod, ALL);
    assertThat(client.bind(pod, "n1")).contains("bytes, over the limit of 262144");
    assertThat(requests("POST", "/binding")).isZero();
  }

  @Test
  void metricsTellOfVerbsAndReasons() throws Exception {
    ObjectNode pod =
        pod("p", Pods.of(1, 10, 1000), Map.of(Names.DEFAULT.nodeSchedulerPolicy(), "binpack"));
    client.filter(pod, ALL);
    client.prioritize(pod, ALL);
    client.bind(pod, "n1");
    client.filter(pod("big", Pods.of(1, 10, 65536)), ALL);
    try (SchedulerClient ops = new SchedulerClient(extender.opsPort())) {
      assertThat(ops.call("/readyz", null).statusCode()).isEqualTo(200);
      MetricPage.namesAllOf(Part.EXTENDER, ops.call("/metrics", null).body());
      assertThat(ops.call("/metrics", null).body())
          .contains(
              "vgpu_scheduler_verb_total{result=\"fit\",verb=\"filter\"} 1.0",
              "vgpu_scheduler_verb_total{result=\"no_fit\",verb=\"filter\"} 1.0",
              "vgpu_scheduler_verb_total{result=\"success\",verb=\"bind\"} 1.0",
              "vgpu_scheduler_verb_duration_seconds_bucket{stage=\"api\",verb=\"bind\",le=\"1.0E-4\"}",
              "vgpu_scheduler_node_reject_total{code=\"InsufficientVGPUMemory\",verb=\"filter\"} 3.0",
              "vgpu_scheduler_pod_policy_total{device_policy=\"none\",node_policy=\"binpack\",topology_mode=\"none\"} 1.0",
              "vgpu_scheduler_bind_in_flight");
    }
  }
}
