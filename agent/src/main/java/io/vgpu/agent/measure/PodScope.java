package io.vgpu.agent.measure;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.ContainerRef;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Which containers have series (node-agent.md 7.4): those of pods that have not ended; sequential
 * init containers only while they run. Any thread.
 */
public record PodScope(NodePods pods) implements Predicate<ContainerRef> {
  @Override
  public boolean test(ContainerRef container) {
    if (!pods.synced()) {
      return true; // its files are there: who ended is told when the list is in
    }
    Optional<NodePod> pod = pods.live(container.pod().uid());
    return pod.isPresent()
        && !pod.get().terminal()
        && (kind(pod.get(), container.container()) != ContainerKind.INIT
            || pod.get().running().contains(container.container()));
  }

  private static ContainerKind kind(NodePod pod, String container) {
    return pod.demand().containers().stream()
        .filter(c -> c.name().equals(container))
        .findFirst()
        .map(c -> c.kind())
        .orElse(ContainerKind.APP);
  }
}
