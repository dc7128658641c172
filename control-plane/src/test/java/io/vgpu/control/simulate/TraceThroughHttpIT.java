package io.vgpu.control.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.Assessed;
import io.vgpu.control.scheduler.ExtenderConfig.Packing;
import io.vgpu.control.scheduler.policy.Foresight;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.PlacementPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the simulator says is what the extender does: the same arrivals, once on paper and once
 * through filter, prioritize, steer and bind over HTTP, end on the same nodes and cards.
 */
class TraceThroughHttpIT {
  private static final int EVENTS = 500;
  private static final Path TRACE = Path.of("src/test/resources/openb");

  @TempDir private Path folder = Path.of("");
  private final Map<String, Host> left = new TreeMap<>();
  private final FakeApiServer api = new FakeApiServer();
  private SimCluster cluster = new SimCluster(List.of(), List.of());

  /** Every twelfth node, and as many pods as fill them; some insist on models. */
  @BeforeEach
  void read() throws IOException {
    List<String> nodes = Files.readAllLines(TRACE.resolve("nodes.csv"));
    List<String> fewer = new ArrayList<>(List.of(nodes.getFirst()));
    for (int i = 1; i < nodes.size(); i += 12) {
      fewer.add(nodes.get(i));
    }
    List<String> pods = new ArrayList<>();
    for (String line : Files.readAllLines(TRACE.resolve("pods.csv")).subList(0, EVENTS + 1)) {
      String model = pods.size() % 7 == 1 ? "T4" : pods.size() % 7 == 2 ? "P100|V100M16" : "";
      boolean plain = line.endsWith(",") && !line.contains(",0,");
      pods.add(plain ? line + model : line);
    }
    Path nodeFile = Files.write(folder.resolve("nodes.csv"), fewer);
    Path podFile = Files.write(folder.resolve("pods.csv"), pods);
    cluster = SimFiles.read(nodeFile, podFile, Names.DEFAULT);
  }

  @AfterEach
  void stop() {
    api.close();
  }

  @Test
  @Timeout(240)
  void fiveHundredEventsEndWhereTheSimulatorPutsThem() throws Exception {
    for (NodeView node : cluster.nodes()) {
      left.put(node.name(), node.hostTotal());
      api.node(record(node));
    }
    pastPods();
    WorkloadModel workload = cluster.workload();
    Replay replay = new Replay(cluster, workload, new Foresight(() -> workload));
    Packing packing =
        new Packing(Duration.ofDays(7), Duration.ofHours(1), PlacementPolicy.FORESIGHT, 40);
    int placed = 0;
    try (RunningExtender extender = new RunningExtender(api, folder, "", null, packing)) {
      awaitModel(extender);
      int event = 0;
      for (SimPod pod : Arrivals.of(cluster, 1, 42)) {
        String onPaper = replay.place(pod).map(TraceThroughHttpIT::words).orElse("nowhere");
        String overHttp = schedule(extender.client(), pod);
        assertThat(overHttp).as("event %d: %s", event++, pod).isEqualTo(onPaper);
        placed += onPaper.equals("nowhere") ? 0 : 1;
      }
    }
    assertThat(placed).isBetween(EVENTS / 2, EVENTS);
  }

  private static String words(Assessed chosen) {
    return words(chosen.node().node().name(), chosen.footprint());
  }

  private static String words(String node, Footprint footprint) {
    return node + " " + new TreeMap<>(footprint.cards());
  }

  private static NodeRecord record(NodeView node) {
    return Openb.record(
        node.name(),
        node.cards().size(),
        node.cards().isEmpty() ? "" : node.cards().getFirst().device().type(),
        node.hostTotal());
  }

  /** The same pods, finished on the same day: what the extender learns its workload from. */
  private void pastPods() {
    for (SimPod pod : cluster.pods()) {
      String name = "past-" + pod.request().pod().name();
      api.pod(name, pod.request().demand(), annotations(pod), pod.request().host());
      api.assign(name, cluster.nodes().getFirst().name());
      api.phase(name, "Succeeded");
      api.created(name, "2026-01-01T00:00:00Z");
    }
  }

  private static void awaitModel(RunningExtender extender) throws Exception {
    try (SchedulerClient ops = new SchedulerClient(extender.opsPort())) {
      while (!ops.call("/metrics", null)
          .body()
          .contains("vgpu_scheduler_workload_pods " + EVENTS + ".0")) {
        Thread.onSpinWait();
      }
    }
  }

  private static Map<String, String> annotations(SimPod pod) {
    Map<String, String> annotations = new HashMap<>();
    annotations.put(Names.DEFAULT.nodeSchedulerPolicy(), "foresight");
    if (!pod.request().wishes().types().isEmpty()) {
      annotations.put(
          Names.DEFAULT.includeGpuType(),
          String.join(",", pod.request().wishes().types().include()));
    }
    return annotations;
  }

  /** As kube-scheduler does: CPU and memory first, then the extender, then the best score. */
  private String schedule(SchedulerClient client, SimPod pod) throws Exception {
    Host host = pod.request().host();
    List<String> fitting = new ArrayList<>();
    left.forEach(
        (node, room) -> {
          if (host.within(room)) {
            fitting.add(node);
          }
        });
    String name = pod.request().pod().name();
    ObjectNode object = api.pod(name, pod.request().demand(), annotations(pod), host);
    if (fitting.isEmpty()) {
      return "nowhere";
    }
    if (pod.count() == 0) {
      String node = best(client.scores("/scheduler/steer", object, fitting));
      api.assign(name, node);
      left.computeIfPresent(node, (n, room) -> room.minus(host));
      return words(node, Footprint.NONE);
    }
    List<String> cards = SchedulerClient.strings(client.filter(object, fitting).get("NodeNames"));
    if (cards.isEmpty()) {
      return "nowhere";
    }
    String node = cards.size() == 1 ? cards.getFirst() : best(client.prioritize(object, cards));
    assertThat(client.bind(object, node)).isEmpty();
    left.computeIfPresent(node, (n, room) -> room.minus(host));
    return words(node, api.footprint(name, pod.request()));
  }

  private static String best(Map<String, Integer> scores) {
    return scores.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse("nowhere");
  }
}
