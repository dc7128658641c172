package io.vgpu.model;

import static io.vgpu.model.Checks.check;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a node offers: its cards sorted by index, how it divides them, and its links where they are
 * published.
 */
public record NodeInventory(
    List<GpuDevice> devices, NodeConfig config, Optional<NodeTopology> topology) {
  public NodeInventory {
    devices = devices.stream().sorted((a, b) -> Integer.compare(a.id(), b.id())).toList();
    checkDistinct(devices);
  }

  /** Two cards of one node share neither index nor UUID. */
  public static void checkDistinct(List<GpuDevice> devices) {
    Set<Object> seen = new HashSet<>();
    for (GpuDevice d : devices) {
      check(seen.add(d.id()), "device id %d stands twice", d.id());
      check(seen.add(d.uuid()), "device uuid %s stands twice", d.uuid());
    }
  }
}
