package io.vgpu.control.scheduler;

import io.vgpu.control.scheduler.policy.Weights;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.List;

/**
 * A pod's demand with the defaults filled in for one node (control-plane.md 2.1), and its sums
 * (3.6). Pure.
 *
 * @param max per-field maximum over the containers; cores and memory per card
 * @param memoryFactor and {@code uniformMemory}: the node's, that the defaults were filled in by
 * @param total {@code sidecars + max(apps, largest sequential init)}
 */
record Needs(List<Need> containers, Use max, Use total, int memoryFactor, long uniformMemory) {
  private static final long MORE_THAN_ANY_CARD = 2 * MemoryMiB.MAX;

  /**
   * One container.
   *
   * @param memory MiB per card; 0 is each card's whole memory
   */
  record Need(ContainerDemand container, int number, long cores, long memory) {
    /** What it takes of one card that has {@code cardMemory} MiB. */
    Use on(long cardMemory) {
      return new Use(1, cores, memory == 0 ? cardMemory : memory);
    }
  }

  Needs {
    containers = List.copyOf(containers);
  }

  /**
   * @param uniformMemory memory that all schedulable cards of the node have; 0 where they differ
   */
  static Needs of(PodDemand demand, int memoryFactor, long uniformMemory) {
    List<Need> needs = new ArrayList<>();
    for (ContainerDemand c : demand.vgpuContainers()) {
      long cores = c.cores() == 0 && c.memory() == 0 ? 100 : c.cores();
      long memory = c.memory() > 0 ? blocks(c.memory(), memoryFactor) : uniformMemory;
      needs.add(new Need(c, (int) c.number(), cores, memory));
    }
    return summed(needs, memoryFactor, uniformMemory);
  }

  /** Blocks in MiB, capped above what any card can have, so that sums cannot overflow. */
  private static long blocks(long blocks, int memoryFactor) {
    return blocks > MORE_THAN_ANY_CARD / memoryFactor ? MORE_THAN_ANY_CARD : blocks * memoryFactor;
  }

  /** In the user's own numbers, for the weights of the node score (3.7): no node is known. */
  static Weights weights(PodDemand demand) {
    return Weights.of(of(demand, 1, 0).total());
  }

  /** Whether a node with these would get the very same. */
  boolean isFor(int factor, long memory) {
    return memoryFactor == factor && uniformMemory == memory;
  }

  private static Needs summed(List<Need> needs, int memoryFactor, long uniformMemory) {
    Use max = Use.ZERO;
    Use sidecars = Use.ZERO;
    Use apps = Use.ZERO;
    Use inits = Use.ZERO;
    for (Need n : needs) {
      max = max.max(new Use(n.number(), n.cores(), n.memory()));
      Use all = new Use(n.number(), n.number() * n.cores(), n.number() * n.memory());
      switch (n.container().kind()) {
        case SIDECAR -> sidecars = sidecars.plus(all);
        case APP -> apps = apps.plus(all);
        case INIT -> inits = inits.max(all);
      }
    }
    return new Needs(needs, max, sidecars.plus(apps.max(inits)), memoryFactor, uniformMemory);
  }
}
