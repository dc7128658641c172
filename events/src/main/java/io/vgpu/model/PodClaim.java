package io.vgpu.model;

import static io.vgpu.model.Checks.check;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The allocation of a pod: one entry per vGPU container, init containers first, in spec order
 * (node-agent.md 1.7).
 */
public record PodClaim(List<ContainerClaim> containers) {
  public PodClaim {
    containers = List.copyOf(containers);
    check(!containers.isEmpty(), "a claim needs at least one container");
    Set<String> seen = new HashSet<>();
    for (ContainerClaim c : containers) {
      check(seen.add(c.container()), "claim names container %s twice", c.container());
    }
  }

  /** The entry of one container, if the claim has one. */
  public Optional<ContainerClaim> of(String container) {
    return containers.stream().filter(c -> c.container().equals(container)).findFirst();
  }
}
