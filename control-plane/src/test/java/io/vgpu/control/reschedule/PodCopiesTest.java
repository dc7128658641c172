package io.vgpu.control.reschedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class PodCopiesTest {
  private static final JsonMapper JSON = JsonMapper.shared();

  @Test
  void isWhatItsOwnerWroteAndNothingOfItsFate() {
    ObjectNode pod =
        (ObjectNode)
            JSON.readTree(
                """
                {"metadata":{"name":"p","namespace":"a","uid":"u1","resourceVersion":"7","generation":2,
                   "creationTimestamp":"t","managedFields":[{}],"deletionTimestamp":"t","deletionGracePeriodSeconds":1,
                   "finalizers":["own/f"],"ownerReferences":[{"uid":"o"}],
                   "labels":{"app":"x","nvidia.com/assigned-phase":"failed","nvidia.com/metrics-node":"n1"},
                   "annotations":{"mine":"y","nvidia.com/include-gpu-type":"A10","nvidia.com/pre-allocated":"x",
                     "nvidia.com/claim-hmac":"x","nvidia.com/real-allocated":"x","nvidia.com/predicate-node":"x",
                     "nvidia.com/predicate-time":"x","nvidia.com/metrics-node":"x",
                     "vgpu-manager.io/original-resources":"x","vgpu-manager.io/replaces":"u0"}},
                 "spec":{"nodeName":"n1","priority":7,"preemptionPolicy":"Never","overhead":{"cpu":"1"},
                   "priorityClassName":"high","schedulerName":"vgpu-scheduler","ephemeralContainers":[{}],
                   "nodeSelector":{"kubernetes.io/hostname":"n1"},"containers":[{"name":"c","future":1}]},
                 "status":{"phase":"Failed"}}""");
    ObjectNode before = pod.deepCopy();
    assertThat(PodCopies.of(pod, Names.DEFAULT, 2))
        .isEqualTo(
            JSON.readTree(
                """
                {"apiVersion":"v1","kind":"Pod",
                 "metadata":{"name":"p","namespace":"a","finalizers":["own/f"],"ownerReferences":[{"uid":"o"}],
                   "labels":{"app":"x"},
                   "annotations":{"mine":"y","nvidia.com/include-gpu-type":"A10",
                     "vgpu-manager.io/replaces":"u1","vgpu-manager.io/replacements":"3"}},
                 "spec":{"priorityClassName":"high","schedulerName":"vgpu-scheduler",
                   "nodeSelector":{"kubernetes.io/hostname":"n1"},"containers":[{"name":"c","future":1}]}}"""));
    assertThat(pod).as("the original is only read").isEqualTo(before);
  }
}
