package io.vgpu.control.scheduler.policy;

import io.vgpu.model.PlacementPolicy;

/** The list of policies: which class serves which word. */
public final class Policies {
  private static final AllocationPolicy BINPACK = new Binpack();
  private static final AllocationPolicy SPREAD = new Spread();
  private static final AllocationPolicy NONE = new NoPreference();

  private Policies() {}

  /** The policy behind a pod's annotation. */
  public static AllocationPolicy of(PlacementPolicy policy) {
    return switch (policy) {
      case BINPACK -> BINPACK;
      case SPREAD -> SPREAD;
      case NONE -> NONE;
    };
  }
}
