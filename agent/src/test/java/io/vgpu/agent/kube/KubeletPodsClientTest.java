package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.kube.KubeClient;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodRef;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubeletPodsClientTest {
  private static final Duration BOUND = Duration.ofSeconds(10);
  private static final String PODS =
      """
      {"kind":"PodList","apiVersion":"v1","metadata":{},"items":[
       {"metadata":{"name":"a","namespace":"n","uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z",
         "annotations":{"nvidia.com/pre-allocated":"main[0_GPU-a_10_1024]","nvidia.com/predicate-node":"n0","other":"x"},
         "labels":{"app":"y","nvidia.com/assigned-phase":"succeed"}},
        "spec":{"nodeName":"n0",
         "initContainers":[{"name":"i","resources":{"limits":{"nvidia.com/vgpu-number":"1"}}},
                           {"name":"s","restartPolicy":"Always","resources":{"limits":{"nvidia.com/vgpu-number":1}}}],
         "containers":[{"name":"main","resources":{"limits":{"nvidia.com/vgpu-number":"2","cpu":"1"}}},{"name":"plain"}]},
        "status":{"phase":"Running",
         "initContainerStatuses":[{"name":"i","containerID":"containerd://1","state":{"terminated":{}}}],
         "containerStatuses":[{"name":"main","containerID":"containerd://2","state":{"running":{}}},{"name":"plain"}]}},
       {"metadata":{"name":"broken","namespace":"n"}},
       {"metadata":{"name":"b","namespace":"n","uid":"u2"},"spec":{},"status":null}
      ]}
      """;

  @TempDir Path dir;

  @Test
  void readsWhoIsThereWithItsOwnTokenAndLeavesOutWhatItCannotRead() throws Exception {
    try (FakeApiServer kubelet = new FakeApiServer();
        KubeClient api = kubelet.client(dir);
        KubeletPodsClient client =
            new KubeletPodsClient(api.towards(kubelet.url(), null, BOUND), Names.DEFAULT)) {
      kubelet.answers.put("/pods", PODS);
      List<NodePod> pods = client.get(BOUND).orElseThrow();
      assertThat(pods).extracting(p -> p.ref().uid()).containsExactly("u1", "u2");
      NodePod a = pods.getFirst();
      assertThat(a.ref()).isEqualTo(new PodRef("n", "a", "u1"));
      assertThat(a.deleting()).isTrue();
      assertThat(a.nodeName()).isEqualTo("n0");
      assertThat(a.phase()).isEqualTo("Running");
      assertThat(a.annotations())
          .containsOnlyKeys(Names.DEFAULT.preAllocated(), Names.DEFAULT.predicateNode());
      assertThat(a.labels()).containsOnlyKeys(Names.DEFAULT.assignedPhase());
      assertThat(a.started()).containsExactlyInAnyOrder("i", "main");
      assertThat(a.running()).isEqualTo(Set.of("main"));
      assertThat(a.demand().vgpuContainers())
          .extracting(c -> c.name() + c.kind() + c.number())
          .containsExactly(
              "i" + ContainerKind.INIT + 1,
              "s" + ContainerKind.SIDECAR + 1,
              "main" + ContainerKind.APP + 2);
      assertThat(kubelet.lastAuthorization).isEqualTo("Bearer agents-token");
    }
  }

  @Test
  void anAnswerThatIsNoPodListIsNoAnswer() throws Exception {
    try (FakeApiServer kubelet = new FakeApiServer();
        KubeClient api = kubelet.client(dir);
        KubeletPodsClient client =
            new KubeletPodsClient(api.towards(kubelet.url(), null, BOUND), Names.DEFAULT)) {
      assertThat(client.get(BOUND)).as("404").isEmpty();
      for (String bad :
          List.of("[]", "nonsense", "{\"items\":{}}", "{\"kind\":\"PodList\"}", "{\"items\":[")) {
        kubelet.answers.put("/pods", bad);
        assertThat(client.get(BOUND)).as(bad).isEmpty();
      }
      kubelet.answers.put("/pods", "{\"items\":null}");
      assertThat(client.get(BOUND)).hasValue(List.of());
    }
  }
}
