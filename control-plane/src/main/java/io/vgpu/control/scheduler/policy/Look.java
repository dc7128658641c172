package io.vgpu.control.scheduler.policy;

/** How much work a policy may spend on one node. */
public enum Look {
  /** For every node there is. */
  QUICK,
  /** For the few that a quick look found best, and for the one that is chosen. */
  DEEP
}
