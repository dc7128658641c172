package io.vgpu.agent.health;

/** Where a card stands between healthy and unhealthy (ADR 0017). */
public enum Standing {
  HEALTHY(true),
  /** Something is odd, but may pass: still offered, for a short time. */
  SUSPECT(true),
  UNHEALTHY(false),
  /** It answers again, and has to go on doing so. */
  PROBING(false);

  private final boolean offered;

  Standing(boolean offered) {
    this.offered = offered;
  }

  /** Whether kubelet and scheduler may give it out. */
  public boolean offered() {
    return offered;
  }
}
