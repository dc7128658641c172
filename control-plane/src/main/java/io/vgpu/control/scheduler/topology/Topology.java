package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeLinks.Tier;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.scheduler.topology.Alignment.Window;
import io.vgpu.control.scheduler.topology.Pick.Picked;
import io.vgpu.control.scheduler.topology.Pick.Unsatisfied;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PlacementPolicy;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Chooses cards of one node by the pod's topology mode (control-plane.md 3.10 to 3.13). Pure, the
 * same input gives the same cards.
 */
public final class Topology {
  private final TopologyMode mode;
  private final NumaPicker numa;
  private final LinkPicker link;

  public Topology(
      TopologyMode mode,
      PlacementPolicy policy,
      String node,
      NodeOffer.Offered offered,
      Alignment alignment,
      SearchLog log) {
    this.mode = mode;
    GroupOrder order = GroupOrder.of(policy);
    boolean strict = mode == TopologyMode.NUMA_STRICT || mode == TopologyMode.LINK_STRICT;
    this.numa = new NumaPicker(node, strict, order);
    this.link = new LinkPicker(node, offered, strict, order, alignment, log);
  }

  /** Whether there is a mode at all. */
  public boolean wishes() {
    return mode != TopologyMode.NONE;
  }

  /**
   * Chooses {@code n} cards, the {@code fixed} ones among them.
   *
   * @param sorted cards that pass, in policy order, at least {@code n}
   */
  public Pick pick(List<Item> sorted, Set<Integer> fixed, int n) {
    return switch (mode) {
      case NONE ->
          new Picked(NumaPicker.firstOf(sorted, fixed, n), Closeness.NONE, "", Window.NONE);
      case NUMA, NUMA_STRICT -> numa.pick(sorted, fixed, n);
      case LINK, LINK_STRICT -> link.pick(sorted, fixed, n);
    };
  }

  /**
   * Why a strict mode cannot be kept by {@code n} cards of a node where the pod has no siblings,
   * without choosing them: {@link #pick}'s word where {@code n} or more cards pass. Empty where it
   * can be kept.
   *
   * @param passes by position
   */
  public static Optional<Unsatisfied> strictRefusal(
      TopologyMode mode, NodeOffer.Offered node, IntPredicate passes, int n) {
    return switch (mode) {
      case NONE, NUMA, LINK -> Optional.empty();
      case NUMA_STRICT -> NumaPicker.strictRefusal(node.devices(), passes, n);
      case LINK_STRICT -> LinkPicker.strictRefusal(node.links(), node.devices().size(), passes, n);
    };
  }

  /**
   * How well the node is built for {@code n} cards together, whoever uses them now: higher is
   * better (control-plane.md 3.7).
   */
  public static int fitness(TopologyMode mode, NodeOffer.Offered node, long n) {
    return switch (mode) {
      case NONE -> 0;
      case NUMA, NUMA_STRICT -> numaFitness(node.devices(), n);
      case LINK, LINK_STRICT -> {
        if (!node.links().published()) {
          yield 0;
        }
        int fitness = 5;
        for (Tier tier : Tier.values()) {
          if (node.links().largest(tier) >= n) {
            yield fitness;
          }
          fitness--;
        }
        yield fitness;
      }
    };
  }

  private static int numaFitness(List<GpuDevice> devices, long n) {
    int largest = 0;
    for (GpuDevice a : devices) {
      int size = 0;
      for (GpuDevice b : devices) {
        size += a.numa() >= 0 && a.numa() == b.numa() ? 1 : 0;
      }
      largest = Math.max(largest, size);
      if (largest > 0 && largest >= n) {
        return 2;
      }
    }
    return largest == 0 ? 0 : 1;
  }
}
