package io.vgpu.model;

import java.util.List;

/**
 * What a pod asks for: every container, init containers (sidecars among them) first, then app
 * containers, in spec order.
 */
public record PodDemand(List<ContainerDemand> containers) {
  public PodDemand {
    containers = List.copyOf(containers);
  }

  /**
   * The containers that ask for cards, in the order in which the kubelet asks for their devices.
   */
  public List<ContainerDemand> vgpuContainers() {
    return containers.stream().filter(ContainerDemand::asksForVgpu).toList();
  }

  /** Whether any container asks for cards. */
  public boolean asksForVgpu() {
    return containers.stream().anyMatch(ContainerDemand::asksForVgpu);
  }
}
