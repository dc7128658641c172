package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;
import java.util.Locale;

/** Sums over a node's schedulable cards, and what the request needs in all. */
public record NodeLoad(Use total, Use used, Use need) {
  /** Per dimension: in use, and what the request adds, of what there is; and how much it counts. */
  public String words(Weights weights) {
    return String.format(
        Locale.ROOT,
        "slots %d+%d/%d x %.2f, cores %d+%d/%d x %.2f, memory %d+%d/%d x %.2f",
        used.slots(),
        need.slots(),
        total.slots(),
        weights.slots(),
        used.cores(),
        need.cores(),
        total.cores(),
        weights.cores(),
        used.memory(),
        need.memory(),
        total.memory(),
        weights.memory());
  }

  /** Whether the sums leave room for the request. */
  static boolean fits(Use total, Use used, Use need) {
    return used.slots() + need.slots() <= total.slots()
        && used.cores() + need.cores() <= total.cores()
        && used.memory() + need.memory() <= total.memory();
  }
}
