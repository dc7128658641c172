package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;

/**
 * How much slots, cores and memory count in a node's score, by what the pod asks for
 * (control-plane.md 3.7). They add to 1.
 */
public record Weights(double slots, double cores, double memory) {

  /** From a pod's totals in the user's own numbers; cores 0 where it asks for memory only. */
  public static Weights of(Use asked) {
    double slots = asked.slots();
    double cores = asked.cores() / 100.0;
    double memory =
        asked.memory() == 0 ? slots : Math.max(Math.ceil(asked.memory() / 1024.0), slots);
    double sum = slots + cores + memory;
    return sum == 0
        ? new Weights(1 / 3.0, 1 / 3.0, 1 / 3.0)
        : new Weights(slots / sum, cores / sum, memory / sum);
  }

  /** The weighted mean of how full the dimensions are with {@code more} in use, 0 to 1. */
  double fullness(Use total, Use used, Use more) {
    return slots * ratio(used.slots() + more.slots(), total.slots())
        + cores * ratio(used.cores() + more.cores(), total.cores())
        + memory * ratio(used.memory() + more.memory(), total.memory());
  }

  private static double ratio(long used, long total) {
    return total == 0 ? 0 : (double) used / total;
  }
}
