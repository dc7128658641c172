package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.CardSums;
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
   * @param sums of the node's cards
   * @param passes by position
   */
  public static Optional<Unsatisfied> strictRefusal(
      TopologyMode mode, NodeOffer.Offered node, CardSums sums, boolean[] passes, int n) {
    return switch (mode) {
      case NONE, NUMA, LINK -> Optional.empty();
      case NUMA_STRICT -> NumaPicker.strictRefusal(sums, passes, n);
      case LINK_STRICT -> LinkPicker.strictRefusal(node.links(), sums.size(), at -> passes[at], n);
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

  /** The same of a node with these sums, which spare a look at each card. */
  public static int fitness(TopologyMode mode, NodeOffer.Offered node, CardSums sums, long n) {
    return switch (mode) {
      case NUMA, NUMA_STRICT -> numaFitness(sums.largestNuma(), n);
      case NONE, LINK, LINK_STRICT -> fitness(mode, node, n);
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
    return numaFitness(largest, n);
  }

  private static int numaFitness(int largest, long n) {
    if (largest == 0) {
      return 0;
    }
    return largest >= n ? 2 : 1;
  }
}
