package io.vgpu.agent.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import k8s.podresources.v1.ContainerDevices;
import k8s.podresources.v1.ContainerResources;
import k8s.podresources.v1.ListPodResourcesResponse;
import k8s.podresources.v1.PodResources;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class PodResourcesTest {
  private static final String OURS = "nvidia.com/vgpu-number";

  @Example
  void entriesOfAContainerAreTakenTogetherAndOthersResourcesLeftOut() {
    ListPodResourcesResponse response =
        ListPodResourcesResponse.newBuilder()
            .addPodResources(
                PodResources.newBuilder()
                    .setNamespace("n")
                    .setName("p")
                    .addContainers(
                        ContainerResources.newBuilder()
                            .setName("main")
                            .addDevices(devices(OURS, "a"))
                            .addDevices(devices("other", "x"))
                            .addDevices(devices(OURS, "b", "c")))
                    .addContainers(ContainerResources.newBuilder().setName("plain")))
            .build();
    assertThat(io.vgpu.agent.kubelet.PodResources.read(response, OURS))
        .containsExactly(
            new ListedPod("n", "p", Map.of("main", Set.of("a", "b", "c"), "plain", Set.of())));
  }

  @Property(tries = 2000)
  void anyBytesAreReadOrNoMessage(@ForAll byte[] bytes) {
    List<ListedPod> pods;
    try {
      pods =
          io.vgpu.agent.kubelet.PodResources.read(ListPodResourcesResponse.parseFrom(bytes), OURS);
    } catch (InvalidProtocolBufferException e) {
      pods = List.of();
    }
    assertThat(pods).doesNotContainNull();
  }

  private static ContainerDevices devices(String resource, String... ids) {
    return ContainerDevices.newBuilder()
        .setResourceName(resource)
        .addAllDeviceIds(List.of(ids))
        .build();
  }
}
