package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodClaim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Says by counting which nodes a pod of one container fits on. It knows nothing of the extender: a
 * ledger of its own, from what was bound.
 */
final class BenchOracle {
  private static final class Card {
    final long memory;
    final long cores;
    final long slots;
    final int numa;
    long usedMemory;
    long usedCores;
    long usedSlots;

    Card(GpuDevice d) {
      memory = d.memory();
      cores = d.core();
      slots = d.number();
      numa = d.numa();
    }

    boolean takes(ContainerDemand c) {
      return usedSlots < slots
          && usedCores < cores
          && usedCores + c.cores() <= cores
          && usedMemory + c.memory() <= memory;
    }
  }

  private record Placed(String node, PodClaim claim) {}

  private final Map<String, Card[]> nodes = new HashMap<>();
  private final Map<String, Placed> pods = new HashMap<>();

  void node(String name, List<GpuDevice> devices) {
    nodes.put(name, devices.stream().map(Card::new).toArray(Card[]::new));
  }

  void bound(PodRequest pod, String node, PodClaim claim) {
    pods.put(pod.pod().uid(), new Placed(node, claim));
    charge(node, claim, 1);
  }

  void gone(PodRequest pod) {
    Placed placed = Objects.requireNonNull(pods.remove(pod.pod().uid()), "a bound pod");
    charge(placed.node(), placed.claim(), -1);
  }

  private void charge(String node, PodClaim claim, int sign) {
    for (ContainerClaim c : claim.containers()) {
      for (DeviceClaim d : c.devices()) {
        Card card = cards(node)[d.index()];
        card.usedSlots += sign;
        card.usedCores += (long) sign * d.cores().value();
        card.usedMemory += sign * d.memory().value();
        if (card.usedSlots > card.slots
            || card.usedCores > card.cores
            || card.usedMemory > card.memory) {
          throw new AssertionError("card " + d.index() + " of " + node + " is promised twice");
        }
      }
    }
  }

  private Card[] cards(String node) {
    return Objects.requireNonNull(nodes.get(node), node);
  }

  /**
   * Every node that has enough cards for the pod's only container.
   *
   * @param strict on one NUMA node; in this cluster the very cards that NVLink connects
   */
  Set<String> fitting(PodRequest pod, boolean strict) {
    ContainerDemand c = pod.demand().containers().getFirst();
    Set<String> fitting = new HashSet<>();
    nodes.forEach(
        (name, cards) -> {
          int[] able = new int[2];
          for (Card card : cards) {
            able[card.numa] += card.takes(c) ? 1 : 0;
          }
          if ((strict ? Math.max(able[0], able[1]) : able[0] + able[1]) >= c.number()) {
            fitting.add(name);
          }
        });
    return fitting;
  }
}
