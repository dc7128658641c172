package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.GpuInventory.Card;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeInventory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What a claim means in a container's {@code limits} (node-agent.md 2.10). Pure. */
final class ClaimLimits {
  private ClaimLimits() {}

  /** One entry per claimed card, by index; empty when a claimed card is not one of the node's. */
  static Optional<List<DeviceLimits>> of(
      ContainerClaim claim, GpuInventory inventory, ComputePolicy policy) {
    NodeInventory published = inventory.published();
    List<DeviceLimits> limits = new ArrayList<>();
    for (DeviceClaim d :
        claim.devices().stream().sorted(Comparator.comparingInt(DeviceClaim::index)).toList()) {
      Optional<Card> card = inventory.card(d.uuid());
      Optional<GpuDevice> device =
          published.devices().stream().filter(p -> p.uuid().equals(d.uuid())).findFirst();
      if (card.isEmpty() || device.isEmpty()) {
        return Optional.empty();
      }
      limits.add(of(d, card.get(), device.get(), published.config().memoryScaling(), policy));
    }
    return Optional.of(limits);
  }

  private static DeviceLimits of(
      DeviceClaim claim, Card card, GpuDevice device, double scaling, ComputePolicy policy) {
    int cores = claim.cores().value();
    long memory = claim.memory().bytes();
    Set<Flag> flags = EnumSet.noneOf(Flag.class);
    if (claim.memory().value() != device.memory() || scaling != 1) {
      flags.add(Flag.MEMORY_LIMIT);
    }
    boolean compute = policy != ComputePolicy.NONE && cores > 0 && cores < 100;
    if (compute) {
      flags.add(Flag.COMPUTE_LIMIT);
    }
    if (scaling > 1) {
      flags.add(Flag.OVERSUBSCRIBE);
    }
    if (policy == ComputePolicy.BALANCE) {
      flags.add(Flag.BALANCE);
    }
    int hard = compute ? 10 * cores : 1000;
    int soft = policy == ComputePolicy.FIXED ? hard : 1000;
    return new DeviceLimits(
        claim.uuid(),
        card.gpu().index(),
        card.gpu().smCount(),
        flags,
        memory,
        scaling > 1 ? (long) (memory / scaling) : memory,
        hard,
        soft);
  }
}
