package io.vgpu.e2e.state;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.Names;
import java.util.List;

/** Pods of one container that nobody schedules but the test. */
final class StatePods {
  private final KubernetesClient client;
  private final String namespace;

  StatePods(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** Makes a pod that asks for so much of each of {@code number} cards. */
  Pod create(String name, int number, int cores, long memoryMiB) {
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withSchedulerName("the-test")
                .addNewContainer()
                .withName("main")
                .withImage("localhost/busybox:1")
                .withNewResources()
                .addToLimits(Names.DEFAULT.vgpuNumber(), new Quantity(Integer.toString(number)))
                .addToLimits(Names.DEFAULT.vgpuCores(), new Quantity(Integer.toString(cores)))
                .addToLimits(Names.DEFAULT.vgpuMemory(), new Quantity(Long.toString(memoryMiB)))
                .endResources()
                .endContainer()
                .endSpec()
                .build())
        .create();
  }

  /** As the API server has it now. */
  Pod read(String name) {
    return client.pods().inNamespace(namespace).withName(name).get();
  }

  List<Pod> all() {
    return client.pods().inNamespace(namespace).list().getItems();
  }

  List<Pod> bound() {
    return all().stream().filter(p -> p.getSpec().getNodeName() != null).toList();
  }

  /** Removes it at once: no kubelet of its node would. */
  void delete(String name) {
    client.pods().inNamespace(namespace).withName(name).withGracePeriod(0).delete();
  }

  void deleteAll() {
    client.pods().inNamespace(namespace).withGracePeriod(0).delete();
  }
}
