package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.model.NodeConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The preempt verb over HTTP, in both of its forms, with budgets from the watch (4.2). */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class PreemptIT {
  @TempDir Path folder;
  private FakeApiServer api;
  private RunningExtender extender;

  @BeforeEach
  void start() throws Exception {
    api = new FakeApiServer();
    api.node(Nodes.record("n1", Nodes.u(2), NodeConfig.DEFAULT));
    extender = new RunningExtender(api, folder, "");
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode pod(String name, int priority, Map<String, String> labels) {
    return api.pod(
        name,
        Pods.of(1, 100, 1000).request().demand(),
        Map.of(),
        o -> {
          ((ObjectNode) o.get("spec")).put("priority", priority);
          ObjectNode keys = ((ObjectNode) o.get("metadata")).putObject("labels");
          labels.forEach(keys::put);
        });
  }

  private void bound(String name, int priority, Map<String, String> labels) throws Exception {
    ObjectNode pod = pod(name, priority, labels);
    extender.client().filter(pod, List.of("n1"));
    assertThat(extender.client().bind(pod, "n1")).isEmpty();
  }

  /** kube-scheduler asks with the state of its own watch: ours is there a moment later. */
  private JsonNode preempt(ObjectNode preemptor, String victim, boolean full, String expected)
      throws Exception {
    ObjectNode args = ExtenderJson.JSON.createObjectNode();
    args.set("Pod", preemptor);
    ObjectNode node =
        args.putObject(full ? "NodeNameToVictims" : "NodeNameToMetaVictims").putObject("n1");
    if (full) {
      node.putArray("Pods").add(api.read(victim));
    } else {
      node.putArray("Pods").addObject().put("UID", "uid-" + victim);
    }
    node.put("NumPDBViolations", 0);
    while (true) {
      JsonNode answer =
          ExtenderJson.JSON.readTree(
              extender.client().call("/scheduler/preempt", args.toString()).body());
      JsonNode nodes = answer.get("NodeNameToMetaVictims");
      if (victims(nodes).equals(expected)) {
        return nodes;
      }
      Thread.onSpinWait();
    }
  }

  private static String victims(JsonNode nodes) {
    return nodes
        .path("n1")
        .path("Pods")
        .valueStream()
        .map(p -> p.path("UID").asString())
        .collect(Collectors.joining(","));
  }

  @Test
  void aVictimIsReplacedWhereItsGoingMakesNoRoomAndBudgetsHold() throws Exception {
    bound("a", 10, Map.of("app", "kept"));
    bound("b", 10, Map.of("app", "other"));
    ObjectNode preemptor = pod("urgent", 1000, Map.of());
    preempt(preemptor, "a", false, "uid-a");
    preempt(preemptor, "b", true, "uid-b");

    ObjectNode both =
        api.pod(
            "both",
            Pods.of(2, 100, 1000).request().demand(),
            Map.of(),
            o -> ((ObjectNode) o.get("spec")).put("priority", 1000));
    JsonNode nodes = preempt(both, "a", false, "uid-a,uid-b");
    assertThat(nodes.get("n1").get("NumPDBViolations").asInt()).isEqualTo(1);

    api.budget("keeps", "app", "other", 0);
    preempt(both, "a", false, "");
    while (api.events().stream()
        .map(e -> e.path("reason").asString() + " " + e.path("message").asString())
        .noneMatch(t -> t.startsWith("PreemptionFailed preemption: 0/1 nodes are available"))) {
      Thread.onSpinWait();
    }
    api.budget("keeps", "app", "other", 1);
    preempt(both, "a", false, "uid-a,uid-b");
  }

  @Test
  void anOlderApiServersBudgetsHoldTooAndItsUpgradeIsNoticed() throws Exception {
    extender.close();
    api.policyVersion("v1beta1");
    api.budget("keeps", "app", "kept", 0);
    extender = new RunningExtender(api, folder, "");
    bound("a", 10, Map.of("app", "kept"));
    bound("b", 10, Map.of("app", "kept"));
    ObjectNode both =
        api.pod(
            "both",
            Pods.of(2, 100, 1000).request().demand(),
            Map.of(),
            o -> ((ObjectNode) o.get("spec")).put("priority", 1000));
    preempt(both, "a", false, "");
    api.budget("keeps", "app", "kept", 1); // through the watch
    preempt(both, "a", false, "uid-a,uid-b");

    api.policyVersion("v1");
    api.budget("keeps", "app", "kept", 0);
    preempt(both, "a", false, "");
  }

  @Test
  void equalsAreLeftAloneAndOthersPassThrough() throws Exception {
    bound("a", 10, Map.of());
    bound("b", 1000, Map.of());
    ObjectNode both =
        api.pod(
            "both",
            Pods.of(2, 100, 1000).request().demand(),
            Map.of(),
            o -> ((ObjectNode) o.get("spec")).put("priority", 1000));
    preempt(both, "a", false, "");
    ObjectNode plain = api.pod("plain", Pods.of(0, 0, 0).request().demand(), Map.of());
    preempt(plain, "a", false, "uid-a");
    preempt(plain, "a", true, "uid-a");
    assertThat(extender.client().call("/scheduler/preempt", "{").statusCode()).isEqualTo(400);
    assertThat(
            extender
                .client()
                .call(
                    "/scheduler/preempt",
                    "{\"Pod\":" + both + ",\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":7}}}")
                .body())
        .contains("NodeNameToMetaVictims.n1.Pods: must be a list");
  }
}
