package io.vgpu.control.scheduler.policy;

import io.vgpu.control.cluster.Wishes;
import io.vgpu.model.PlacementPolicy;

/** The list of policies: which plug-in serves which word. */
public final class Policies {
  private final AllocationPolicy binpack = new Binpack();
  private final AllocationPolicy spread = new Spread();
  private final AllocationPolicy none = new NoPreference();

  /** The one that ranks nodes for a pod. */
  public AllocationPolicy ofNodes(Wishes wishes) {
    return of(wishes.nodePolicy());
  }

  /** The one that orders a node's cards for a pod. */
  public AllocationPolicy ofCards(Wishes wishes) {
    return of(wishes.devicePolicy());
  }

  /** The policy behind a word. */
  public AllocationPolicy of(PlacementPolicy policy) {
    return switch (policy) {
      case BINPACK -> binpack;
      case SPREAD -> spread;
      case NONE -> none;
    };
  }
}
