package io.vgpu.agent.shim;

import io.vgpu.model.GpuUuid;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The node's cards that are partitioned in space by MPS (cuda-shim.md 5.9), and what a container on
 * one of them gets of its daemon. Any thread, never blocks.
 */
public interface Partitions {
  /** No card is. */
  Partitions NONE =
      new Partitions() {
        @Override
        public Set<GpuUuid> cards() {
          return Set.of();
        }

        @Override
        public Optional<Folders> folders(GpuUuid card) {
          return Optional.empty();
        }

        @Override
        public boolean serves(GpuUuid card) {
          return false;
        }
      };

  /** Folders of a card's daemon, the same path for agent and host. */
  record Folders(Path pipe, Path sharedMemory) {}

  /** Those chosen by configuration; the same as long as the process lives. */
  Set<GpuUuid> cards();

  /** Empty for a card that is not chosen. */
  Optional<Folders> folders(GpuUuid card);

  /** Whether the card's daemon is there now. Where it is not, shares are kept by time. */
  boolean serves(GpuUuid card);
}
