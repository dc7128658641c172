package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import java.util.List;

/**
 * One card as the driver shows it.
 *
 * @param index NVML index
 * @param minor N of {@code /dev/nvidiaN}
 * @param memoryBytes physical memory in bytes
 * @param busId as published: lower case, one leading {@code 0000} removed (node-agent.md 1.6)
 * @param numa NUMA node, -1 when unknown
 * @param capability CUDA compute capability
 * @param smCount streaming multiprocessors, 0 when the driver does not tell
 * @param mig MIG mode is on
 */
public record PhysicalGpu(
    int index,
    int minor,
    GpuUuid uuid,
    String name,
    long memoryBytes,
    String busId,
    int numa,
    float capability,
    int smCount,
    boolean mig,
    List<MigDevice> migDevices) {
  public PhysicalGpu {
    migDevices = List.copyOf(migDevices);
  }

  /**
   * A MIG slice.
   *
   * @param profile such as {@code 1g.10gb}
   * @param multiprocessors of the slice, 0 when the driver does not tell
   * @param memoryMiB of the slice, 0 when the driver does not tell
   */
  public record MigDevice(
      GpuUuid uuid,
      String profile,
      int gpuInstance,
      int computeInstance,
      int multiprocessors,
      long memoryMiB) {}
}
