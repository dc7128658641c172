package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is rendered is well-formed and says what the other parts rely on. */
class ConfigFilesTest {
  private final ClusterConfig config =
      ClusterConfig.defaults(Path.of("/opt/bin")).withRunDir(Path.of("/r")).withExtenderWeight(200);

  @Test
  void schedulerAsksTheExtenderForOurPodsOnly() {
    JsonNode scheduler = yaml(new ConfigFiles(config, "overlayfs").scheduler());
    assertThat(scheduler.path("percentageOfNodesToScore").asInt()).isEqualTo(100);
    assertThat(scheduler.path("profiles").findValuesAsString("schedulerName"))
        .containsExactly("default-scheduler", "vgpu-scheduler");
    JsonNode extender = scheduler.path("extenders").path(0);
    assertThat(extender.path("urlPrefix").asString()).isEqualTo("http://127.0.0.1:3456/scheduler");
    assertThat(extender.path("filterVerb").asString()).isEqualTo("filter");
    assertThat(extender.path("prioritizeVerb").asString()).isEqualTo("prioritize");
    assertThat(extender.path("bindVerb").asString()).isEqualTo("bind");
    assertThat(extender.has("preemptVerb")).isFalse();
    assertThat(extender.path("nodeCacheCapable").asBoolean()).isTrue();
    assertThat(extender.path("weight").asInt()).isEqualTo(200);
    assertThat(extender.path("managedResources").findValuesAsString("name"))
        .containsExactly(
            "nvidia.com/vgpu-number", "nvidia.com/vgpu-cores", "nvidia.com/vgpu-memory");
    assertThat(extender.path("managedResources").findValuesAsString("ignoredByScheduler"))
        .containsExactly("false", "true", "true");
  }

  @Test
  void schedulerWithoutExtenderHasNone() {
    String scheduler = new ConfigFiles(config.withoutExtender(), "overlayfs").scheduler();
    assertThat(yaml(scheduler).has("extenders")).isFalse();
  }

  @Test
  void auditPolicyLeavesNoVerbOut() {
    JsonNode rules = yaml(new ConfigFiles(config, "overlayfs").auditPolicy()).path("rules");
    assertThat(rules).hasSize(1);
    assertThat(rules.path(0).toString()).isEqualTo("{\"level\":\"Metadata\"}");
  }

  @Test
  void kubeletAuthorisesByTheApiAndKeepsItsPlaces() {
    JsonNode kubelet =
        yaml(new ConfigFiles(config.withFeatureGate("DRAConsumableCapacity", true), "x").kubelet());
    assertThat(kubelet.path("authorization").path("mode").asString()).isEqualTo("Webhook");
    assertThat(kubelet.path("authentication").path("anonymous").path("enabled").asBoolean(true))
        .isFalse();
    assertThat(kubelet.path("podLogsDir").asString()).isEqualTo("/r/log/pods");
    assertThat(kubelet.path("evictionHard").path("nodefs.available").asString()).isEqualTo("1%");
    assertThat(kubelet.path("featureGates").toString())
        .isEqualTo("{\"DRAConsumableCapacity\":true}");
  }

  @Test
  void containerdKeepsEveryFolderInTheRunFolder() {
    String containerd = new ConfigFiles(config, "native").containerd();
    assertThat(containerd.lines().filter(line -> line.contains("'/")))
        .allMatch(line -> line.contains("'/r/") || line.contains("'/opt/bin/"));
    assertThat(containerd)
        .contains("snapshotter = 'native'", "netns_mounts_under_state_dir = true");
  }

  @Test
  void networkIsJson() {
    JsonNode cni = JsonMapper.shared().readTree(new ConfigFiles(config, "x").cni());
    assertThat(cni.path("plugins").path(0).path("ipam").path("dataDir").asString())
        .isEqualTo("/r/cni-ipam");
  }

  @Test
  void gatesReachEveryPartThatHasGates() {
    PartSpecs specs = new PartSpecs(config.withFeatureGate("B", false).withFeatureGate("A", true));
    for (Part part : List.of(Part.APISERVER, Part.CONTROLLER_MANAGER, Part.SCHEDULER)) {
      assertThat(specs.of(part).command()).contains("--feature-gates=A=true,B=false");
    }
  }

  @Test
  void nodeLabelsReachTheKubelet() {
    PartSpecs specs = new PartSpecs(config.withNodeLabel("b", "2").withNodeLabel("a", "1"));
    assertThat(specs.of(Part.KUBELET).command()).contains("--node-labels=a=1,b=2");
  }

  private static JsonNode yaml(String text) {
    Map<?, ?> map = Serialization.unmarshal(text, Map.class);
    return JsonMapper.shared().valueToTree(map);
  }
}
