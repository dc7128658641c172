package io.vgpu.control.cluster;

import io.vgpu.model.GpuUuid;
import java.util.List;

/** Where a pod of the same gang or owner is: node and cards. */
public record SiblingPlace(String node, List<GpuUuid> cards) {
  public SiblingPlace {
    cards = List.copyOf(cards);
  }
}
