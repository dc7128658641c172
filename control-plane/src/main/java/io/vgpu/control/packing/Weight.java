package io.vgpu.control.packing;

/**
 * How much one kind of pod counts.
 *
 * @param pods how many, the older ones less
 * @param memoryMiB of all of them, weighted alike
 */
public record Weight(double pods, double memoryMiB) {
  /** Both together. */
  public Weight plus(Weight other) {
    return new Weight(pods + other.pods, memoryMiB + other.memoryMiB);
  }

  /** Of one pod of the kind. */
  int meanMemoryMiB() {
    return pods == 0 ? 0 : (int) Math.min(Integer.MAX_VALUE / 4.0, memoryMiB / pods);
  }
}
