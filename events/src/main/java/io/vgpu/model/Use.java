package io.vgpu.model;

/** An amount of one card: slots, percent of cores, MiB of memory. */
public record Use(long slots, long cores, long memory) {
  public static final Use ZERO = new Use(0, 0, 0);

  /** The sum. */
  public Use plus(Use other) {
    return new Use(slots + other.slots, cores + other.cores, memory + other.memory);
  }

  /** The difference; may be negative. */
  public Use minus(Use other) {
    return new Use(slots - other.slots, cores - other.cores, memory - other.memory);
  }

  /** The larger of each dimension. */
  public Use max(Use other) {
    return new Use(
        Math.max(slots, other.slots), Math.max(cores, other.cores), Math.max(memory, other.memory));
  }

  /** Whether no dimension exceeds {@code capacity}. */
  public boolean within(Use capacity) {
    return slots <= capacity.slots && cores <= capacity.cores && memory <= capacity.memory;
  }
}
