package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.cli.VgpuRun;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.scheduler.ExtenderConfig.Packing;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PlacementPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** More nodes fit than filter names: what kube-scheduler, the autoscaler and people are told. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ShortlistIT {
  private static final int MOST = 3;
  private static final List<String> ALL = IntStream.range(0, 9).mapToObj(i -> "n" + i).toList();
  private static final Packing SHORT =
      new Packing(Duration.ofDays(7), Duration.ofSeconds(30), PlacementPolicy.FORESIGHT, MOST);

  @TempDir Path folder;
  private final List<NodeRecord> records = new ArrayList<>();
  private FakeApiServer api;
  private RunningExtender extender;

  /** The higher the number the larger the node; the last one is too small. */
  @BeforeEach
  void start() throws Exception {
    api = new FakeApiServer();
    for (String name : ALL) {
      int cards = name.equals("n8") ? 1 : 2 + Integer.parseInt(name.substring(1));
      records.add(Nodes.record(name, Nodes.u(cards), NodeConfig.DEFAULT));
    }
    records.forEach(api::node);
    extender = new RunningExtender(api, folder, "", null, SHORT);
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode pod(String name, String policy) {
    return api.pod(
        name,
        Pods.of(2, 10, 1000).request().demand(),
        Map.of(Names.DEFAULT.nodeSchedulerPolicy(), policy));
  }

  private JsonNode filter(String body) throws Exception {
    return ExtenderJson.JSON.readTree(extender.client().call("/scheduler/filter", body).body());
  }

  @Test
  void theBestAreNamedAndTheOthersAreInNeitherList() throws Exception {
    ObjectNode first = pod("p", "binpack");
    JsonNode answer = filter(SchedulerClient.args(first, ALL));
    assertThat(SchedulerClient.strings(answer.get("NodeNames"))).containsExactly("n0", "n1", "n2");
    assertThat(answer.get("FailedNodes").propertyNames()).containsExactly("n8");
    assertThat(extender.client().bind(first, "n1")).isEmpty();
    answer = filter(SchedulerClient.args(pod("q", "spread"), ALL));
    assertThat(SchedulerClient.strings(answer.get("NodeNames"))).containsExactly("n0", "n2", "n3");
  }

  @Test
  void wholeNodesComeBackAsTheyWereSent() throws Exception {
    ObjectNode args = ExtenderJson.JSON.createObjectNode();
    args.set("Pod", pod("p", "binpack"));
    ObjectNode list = args.putObject("Nodes").put("kind", "NodeList");
    ALL.forEach(
        n -> list.withArray("items").addObject().putObject("metadata").put("name", n).put("a", n));
    JsonNode answer = filter(args.putNull("NodeNames").toString());
    assertThat(answer.get("NodeNames").isNull()).isTrue();
    assertThat(
            answer.get("Nodes").get("items").valueStream().map(n -> n.at("/metadata/a").asString()))
        .containsExactly("n0", "n1", "n2");
    assertThat(answer.get("FailedNodes").propertyNames()).containsExactly("n8");
  }

  @Test
  void withoutAPolicyEachNodeHasItsTurn() throws Exception {
    List<String> named = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      List<String> some =
          SchedulerClient.strings(
              filter(SchedulerClient.args(pod("p" + i, "none"), ALL)).get("NodeNames"));
      assertThat(some).hasSize(MOST);
      named.addAll(some);
    }
    assertThat(named).containsAll(ALL.subList(0, 8));
  }

  @Test
  void aPodThatPrefersNodesIsShownAll() throws Exception {
    ObjectNode pod = pod("p", "binpack");
    pod.withObjectProperty("spec")
        .withArrayProperty("topologySpreadConstraints")
        .addObject()
        .put("whenUnsatisfiable", "ScheduleAnyway");
    assertThat(SchedulerClient.strings(filter(SchedulerClient.args(pod, ALL)).get("NodeNames")))
        .isEqualTo(ALL.subList(0, 8));
  }

  @Test
  void theAutoscalerIsToldOfAll() throws Exception {
    JsonNode answer = extender.client().dryRun(pod("p", "binpack"), records);
    assertThat(answer.get("Nodes").get("items")).hasSize(8);
  }

  @Test
  void peopleAreToldWhoWasNotOffered() throws Exception {
    extender.client().filter(pod("p", "binpack"), ALL);
    extender.client().filter(pod("q", "none"), ALL);
    String url = "--scheduler-url=http://127.0.0.1:" + extender.opsPort();
    String master = "--master=" + api.url();
    assertThat(VgpuRun.of("explain", "pod", "ns/p", master, url).out())
        .contains(
            "8 of 9 nodes fit, 3 of them offered",
            "passed by  n3: fits, not offered: 3 better ones were",
            "passed by  n7: fits, not offered: 3 better ones were");
    JsonNode filter =
        ExtenderJson.JSON
            .readTree(VgpuRun.of("explain", "pod", "ns/p", master, url, "-o", "json").out())
            .at("/decision/filter");
    assertThat(filter.get("offered").asInt()).isEqualTo(3);
    assertThat(filter.at("/notOffered/0/node").asString()).isEqualTo("n3");
    assertThat(filter.at("/notOffered/0/why").asString())
        .isEqualTo("fits, not offered: 3 better ones were");
    assertThat(VgpuRun.of("explain", "pod", "ns/q", master, url).out())
        .contains("fits, not offered: 3 others were, by turns");
    String pending = VgpuRun.of("why-pending", "ns/p", master, url).out();
    assertThat(pending).contains("8 of 9 nodes fitted").doesNotContain("not offered");
  }
}
