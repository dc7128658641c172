package io.vgpu.control.scheduler.policy;

import io.vgpu.control.cluster.Use;

/** Sums over a node's schedulable cards, and what the request needs in all. */
public record NodeLoad(Use total, Use used, Use need) {
  /** Whether the sums leave room for the request. */
  boolean fits() {
    return used.plus(need).within(total);
  }
}
