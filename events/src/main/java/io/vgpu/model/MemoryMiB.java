package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * An amount of device memory in MiB (2^20 bytes), at most 2^42: its bytes fit a signed 64-bit
 * number.
 */
public record MemoryMiB(long value) implements Comparable<MemoryMiB> {
  public static final long MAX = 1L << 42;
  public static final MemoryMiB ZERO = new MemoryMiB(0);

  public MemoryMiB {
    check(value >= 0 && value <= MAX, "memory %d MiB: must be 0 to %d", value, MAX);
  }

  /** The amount in bytes. */
  public long bytes() {
    return value << 20;
  }

  @Override
  public int compareTo(MemoryMiB other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return value + " MiB";
  }
}
