package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.FakeObjects;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** A gang's pods find each other's cards through the watch and the binds in flight (3.13). */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SiblingsIT {
  private static final String GROUP = "scheduling.x-k8s.io/pod-group";

  @TempDir Path folder;
  private FakeApiServer api;
  private RunningExtender extender;

  @BeforeEach
  void start() throws Exception {
    CaseNodes nodes =
        new CaseNodes(
            ExtenderJson.JSON
                .readTree(
                    Objects.requireNonNull(
                        SiblingsIT.class.getResourceAsStream("/scenarios/scheduler-cases.json")))
                .get("fixtures"));
    api = new FakeApiServer();
    for (String n : List.of("n1", "n2")) {
      api.node(nodes.record(n, ExtenderJson.JSON.createObjectNode().put("on", "IS")));
    }
    extender = new RunningExtender(api, folder, "TopologyAwareGPUAllocation=true");
  }

  @AfterEach
  void stop() {
    extender.close();
    api.close();
  }

  private ObjectNode member(String name, String gang, int number, String includeUuid) {
    Map<String, String> wishes = new HashMap<>();
    wishes.put(Names.DEFAULT.deviceTopologyMode(), "link");
    wishes.put(Names.DEFAULT.crossPodTopology(), "true");
    if (!includeUuid.isEmpty()) {
      wishes.put(Names.DEFAULT.includeGpuUuid(), includeUuid);
    }
    return api.pod(
        name,
        Pods.of(number, 10, 1000).request().demand(),
        wishes,
        o -> ((ObjectNode) o.get("metadata")).putObject("labels").put(GROUP, gang));
  }

  private List<Integer> bound(ObjectNode pod, String node) throws Exception {
    assertThat(
            SchedulerClient.strings(extender.client().filter(pod, List.of(node)).get("NodeNames")))
        .containsExactly(node);
    assertThat(extender.client().bind(pod, node)).isEmpty();
    String name = pod.path("metadata").path("name").asString();
    String claim =
        FakeObjects.annotations(api.read(name)).getOrDefault(Names.DEFAULT.preAllocated(), "");
    return ClaimCodec.decode(claim).containers().getFirst().devices().stream()
        .map(d -> d.index())
        .toList();
  }

  @Test
  void theSecondGoesWhereTheFirstIs() throws Exception {
    assertThat(bound(member("a", "train", 2, "GPU-card-4,GPU-card-5"), "n1")).containsExactly(4, 5);
    assertThat(bound(member("b", "train", 4, ""), "n2"))
        .as("the same component on another node")
        .containsExactly(4, 5, 6, 7);
    assertThat(bound(member("c", "train", 2, ""), "n1"))
        .as("the component itself on the same node")
        .allMatch(card -> card >= 4);
    assertThat(bound(member("d", "other", 2, ""), "n1"))
        .as("a stranger takes the closest cards")
        .containsExactly(0, 1);
  }
}
