package io.vgpu.control.cluster;

/**
 * CPU and memory of a node, or of a pod on it. kube-scheduler filters on them; the policies need
 * them because a card is of no use where nothing else is left.
 */
public record Host(long cpuMilli, long memoryMiB) {
  public static final Host ZERO = new Host(0, 0);

  /** Of a node that does not say what it has: never the reason for anything. */
  public static final Host PLENTY = new Host(1L << 40, 1L << 40);

  /** The sum. */
  public Host plus(Host other) {
    return new Host(cpuMilli + other.cpuMilli, memoryMiB + other.memoryMiB);
  }

  /** The difference; may be negative. */
  public Host minus(Host other) {
    return new Host(cpuMilli - other.cpuMilli, memoryMiB - other.memoryMiB);
  }

  /** The larger of each dimension. */
  public Host max(Host other) {
    return new Host(Math.max(cpuMilli, other.cpuMilli), Math.max(memoryMiB, other.memoryMiB));
  }

  /** Whether neither dimension exceeds {@code capacity}. */
  public boolean within(Host capacity) {
    return cpuMilli <= capacity.cpuMilli && memoryMiB <= capacity.memoryMiB;
  }
}
