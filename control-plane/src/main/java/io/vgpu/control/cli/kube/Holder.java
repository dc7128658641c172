package io.vgpu.control.cli.kube;

import io.vgpu.model.GpuUuid;
import java.util.Set;

/**
 * A pod that holds cards.
 *
 * @param stays why a drain leaves it where it is; empty for one that is evicted
 * @param leaving it is on its way out
 */
public record Holder(
    String namespace, String name, String uid, Set<GpuUuid> cards, String stays, boolean leaving) {
  public Holder {
    cards = Set.copyOf(cards);
  }
}
