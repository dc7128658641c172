package io.vgpu.control.reschedule;

import io.vgpu.model.GpuUuid;
import java.util.Map;
import java.util.Set;

/**
 * Which cards of a node its pods may have to leave.
 *
 * @param drained by an operator, with his reason
 * @param sick unhealthy, and neither excluded nor cordoned nor drained: nobody has them in hand
 */
public record NodeCards(String node, Map<GpuUuid, String> drained, Set<GpuUuid> sick) {
  public NodeCards {
    drained = Map.copyOf(drained);
    sick = Set.copyOf(sick);
  }

  boolean nothing() {
    return drained.isEmpty() && sick.isEmpty();
  }
}
