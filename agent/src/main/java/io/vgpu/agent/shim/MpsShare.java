package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import java.util.Optional;
import java.util.Set;

/**
 * What MPS is told of a container's share. Pure.
 *
 * @param percent most of the multiprocessors, for each process of the container
 * @param promised the container's share of compute is this part of the multiprocessors; else they
 *     are not limited, or too few to be counted in pairs, and the library paces by time
 */
public record MpsShare(GpuUuid card, int percent, boolean promised) {
  /** Multiprocessors are given out in pairs, rounded down: less than one pair is no share. */
  private static final int LEAST = 2;

  public MpsShare {
    check(percent >= 1 && percent <= 100, "MPS share of %s: %d %% must be 1 to 100", card, percent);
  }

  /**
   * Empty for a container that is no client of MPS: none of its cards is partitioned, or it has
   * several cards. A process is a client of one daemon only, and each card has its own.
   */
  public static Optional<MpsShare> of(
      ContainerClaim claim,
      GpuInventory inventory,
      ComputePolicy policy,
      Set<GpuUuid> partitioned) {
    if (claim.devices().size() != 1) {
      return Optional.empty();
    }
    DeviceClaim device = claim.devices().getFirst();
    if (!partitioned.contains(device.uuid())) {
      return Optional.empty();
    }
    int smCount = inventory.card(device.uuid()).map(c -> c.gpu().smCount()).orElse(0);
    int cores = device.cores().value();
    boolean promised =
        policy != ComputePolicy.NONE && cores > 0 && cores < 100 && smCount * cores / 100 >= LEAST;
    return Optional.of(new MpsShare(device.uuid(), promised ? cores : 100, promised));
  }
}
