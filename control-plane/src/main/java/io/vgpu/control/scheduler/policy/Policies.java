package io.vgpu.control.scheduler.policy;

import io.vgpu.control.cluster.Wishes;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.model.PlacementPolicy;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;

/** The list of policies: which plug-in serves which word. */
public final class Policies {
  private final Map<PlacementPolicy, AllocationPolicy> plugIns =
      new EnumMap<>(PlacementPolicy.class);

  private final AllocationPolicy none;

  /** {@code model}: the workload as it is known now. */
  public Policies(Supplier<WorkloadModel> model) {
    this.none = new NoPreference();
    for (PlacementPolicy policy : PlacementPolicy.values()) {
      plugIns.put(policy, plugIn(policy, model));
    }
  }

  private Policies(AllocationPolicy only) {
    this.none = only;
    for (PlacementPolicy policy : PlacementPolicy.values()) {
      plugIns.put(policy, only);
    }
  }

  /** Without any knowledge of the workload. */
  public Policies() {
    this(() -> WorkloadModel.NONE);
  }

  /** One policy, whatever pods wish for. */
  public static Policies always(AllocationPolicy policy) {
    return new Policies(policy);
  }

  private AllocationPolicy plugIn(PlacementPolicy policy, Supplier<WorkloadModel> model) {
    return switch (policy) {
      case BINPACK -> new Binpack();
      case SPREAD -> new Spread();
      case FGD -> new Fgd(model);
      case FORESIGHT -> new Foresight(model);
      case NONE -> none;
    };
  }

  /** The one that ranks nodes for a pod. */
  public AllocationPolicy ofNodes(Wishes wishes) {
    return of(wishes.nodePolicy());
  }

  /**
   * The one that orders a node's cards for a pod. A node policy that scores a node by its best card
   * also chooses the card, unless the pod names another.
   */
  public AllocationPolicy ofCards(Wishes wishes) {
    boolean jointly =
        wishes.devicePolicy() == PlacementPolicy.NONE && wishes.nodePolicy().looksAhead();
    return of(jointly ? wishes.nodePolicy() : wishes.devicePolicy());
  }

  /** The policy behind a word. */
  public AllocationPolicy of(PlacementPolicy policy) {
    return plugIns.getOrDefault(policy, none);
  }
}
