package io.vgpu.e2e.burst;

import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;

/**
 * What one planned container asks for, and how long it lives after it has printed what it sees.
 * Init containers end at once, sidecars with their pod: their life is 0.
 */
record Ask(String container, ContainerKind kind, int number, int cores, int memoryMiB, int lifeMs) {
  Ask {
    if (number < 1 || cores < 0 || memoryMiB < 1 || lifeMs < 0) {
      throw new IllegalArgumentException(
          "container %s: number %d and memory %d must be positive, cores %d and life %d not negative"
              .formatted(container, number, memoryMiB, cores, lifeMs));
    }
  }

  ContainerDemand demand() {
    return new ContainerDemand(container, kind, number, cores, memoryMiB);
  }
}
