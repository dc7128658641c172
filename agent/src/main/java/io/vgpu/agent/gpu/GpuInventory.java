package io.vgpu.agent.gpu;

import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeInventory;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The last discovered state of the node's cards; reads are immutable snapshots, any thread, and
 * never call the driver.
 */
public interface GpuInventory {
  /**
   * A card with its present health.
   *
   * @param cause empty while healthy
   * @param sickSlices MIG slices that failed by themselves
   */
  record Card(PhysicalGpu gpu, boolean healthy, String cause, Set<GpuUuid> sickSlices) {
    public Card {
      sickSlices = Set.copyOf(sickSlices);
    }

    /** Whether a MIG slice of it can be used: it and its card are healthy. */
    public boolean healthy(MigDevice slice) {
      return healthy && !sickSlices.contains(slice.uuid());
    }
  }

  /** Every physical card, sorted by index. */
  List<Card> cards();

  /** What the node publishes: health, scaling and exclusions applied. */
  NodeInventory published();

  /** One card. */
  default Optional<Card> card(GpuUuid uuid) {
    return cards().stream().filter(c -> c.gpu().uuid().equals(uuid)).findFirst();
  }
}
