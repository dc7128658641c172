package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeInventory;
import java.util.List;
import java.util.Optional;

/**
 * The last discovered state of the node's cards; reads are immutable snapshots, any thread, and
 * never call the driver.
 */
public interface GpuInventory {
  /** A card with its present health; {@code cause} is empty while healthy. */
  record Card(PhysicalGpu gpu, boolean healthy, String cause) {}

  /** Every physical card, sorted by index. */
  List<Card> cards();

  /** What the node publishes: health, scaling and exclusions applied. */
  NodeInventory published();

  /** One card. */
  default Optional<Card> card(GpuUuid uuid) {
    return cards().stream().filter(c -> c.gpu().uuid().equals(uuid)).findFirst();
  }
}
