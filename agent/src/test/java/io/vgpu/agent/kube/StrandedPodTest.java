package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vgpu.claim.Names;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A status recorded from kubelet 1.34.4, killed before it had started all containers; the kubelets
 * after it left the pod so. The API's object and the kubelet's text say the same.
 */
class StrandedPodTest {
  private static final String RECORDED =
      """
      {"metadata":{"name":"p","namespace":"n","uid":"u"},
       "spec":{"nodeName":"g","restartPolicy":"RESTART","containers":[{"name":"main"}]},
       "status":{"phase":"PHASE","conditions":[
         {"type":"PodReadyToStartContainers","status":"SANDBOX"},{"type":"Initialized","status":"True"}],
        "containerStatuses":[{"name":"main","containerID":"ID","ready":false,"restartCount":0,
          "started":false,"image":"i","imageID":"x","lastState":{},"state":STATE}]}}
      """;

  private final NodePodReader reader = new NodePodReader(Names.DEFAULT);

  @ParameterizedTest
  @CsvSource({
    "Never, Pending, False, containerd://862e, waiting, true",
    "Never, Pending, False, containerd://862e, terminated, true",
    "OnFailure, Pending, False, containerd://862e, waiting, false",
    "Never, Running, False, containerd://862e, waiting, false",
    "Never, Pending, True, containerd://862e, waiting, false",
    "Never, Pending, False, '', waiting, false",
    "Never, Pending, False, containerd://862e, running, false",
  })
  void isToldApartFromPodsThatAreBeingStarted(
      String restart, String phase, String sandbox, String id, String state, boolean stranded) {
    String json =
        RECORDED
            .replace("RESTART", restart)
            .replace("PHASE", phase)
            .replace("SANDBOX", sandbox)
            .replace("\"ID\"", "\"" + id + "\"")
            .replace("STATE", "{\"" + state + "\":{}}");
    Optional<NodePod> ofApi = reader.of(Serialization.unmarshal(json, Pod.class));
    assertThat(ofApi.orElseThrow().stranded()).isEqualTo(stranded);
    assertThat(reader.podList("{\"items\":[" + json + "]}").getFirst().stranded())
        .isEqualTo(stranded);
  }
}
