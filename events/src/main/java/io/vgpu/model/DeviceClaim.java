package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * What one container may use of one card. {@code index} is the card's NVML index, for people and
 * for order; the identity is the UUID (D2).
 */
public record DeviceClaim(int index, GpuUuid uuid, CorePercent cores, MemoryMiB memory) {
  /**
   * The ABI has 16 device slots, but a node may have more cards; their index is bounded only to
   * stay sane.
   */
  public static final int MAX_INDEX = 1023;

  public DeviceClaim {
    check(index >= 0 && index <= MAX_INDEX, "device index %d: must be 0 to %d", index, MAX_INDEX);
  }
}
