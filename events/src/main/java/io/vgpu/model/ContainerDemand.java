package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * What one container asks for, as written in its {@code limits} (control-plane.md 2.1), before any
 * default is filled in. Nothing is refused here but what no number could be: {@link DemandCheck}
 * gives the reasons.
 *
 * @param number distinct cards
 * @param cores percent per card, 0 when absent
 * @param memory blocks of the node's memoryFactor MiB per card, 0 when absent
 */
public record ContainerDemand(
    String name, ContainerKind kind, long number, long cores, long memory) {
  public ContainerDemand {
    check(!name.isEmpty(), "container name must not be empty");
  }

  /** Whether the container takes part in vGPU allocation at all. */
  public boolean asksForVgpu() {
    return number > 0;
  }
}
