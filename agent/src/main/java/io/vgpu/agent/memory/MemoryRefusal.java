package io.vgpu.agent.memory;

import static io.vgpu.model.Checks.check;

import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;

/**
 * A container was refused device memory since the look before.
 *
 * @param count refusals since its {@code usage} was reset
 * @param lastBytes of the last of them
 */
record MemoryRefusal(ContainerRef container, GpuUuid gpu, long count, long lastBytes) {
  MemoryRefusal {
    check(count > 0, "refusals of %s: %d must be positive", container, count);
    check(lastBytes >= 0, "bytes refused to %s: %d must not be negative", container, lastBytes);
  }
}
