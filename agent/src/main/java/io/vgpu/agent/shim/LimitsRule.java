package io.vgpu.agent.shim;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * From a claim to what {@code limits} says of each card (node-agent.md 2.10). Pure.
 *
 * <p>{@code coresScaling} has no part in it: cores are percent of the real card, scaling only
 * raises what may be promised on it (D6).
 */
public final class LimitsRule {
  private LimitsRule() {}

  /**
   * The entries of one container, sorted by card index. Every claimed card must be the node's own:
   * an unknown one is the caller's error, thrown as {@link IllegalArgumentException} that names it.
   * {@code partitioned}: the cards that MPS partitions.
   */
  public static List<DeviceLimits> of(
      ContainerClaim claim,
      GpuInventory inventory,
      ComputePolicy policy,
      Set<GpuUuid> partitioned) {
    NodeConfig config = inventory.published().config();
    Optional<MpsShare> share = MpsShare.of(claim, inventory, policy, partitioned);
    return claim.devices().stream()
        .map(
            d -> {
              DeviceLimits limits =
                  of(
                      d,
                      published(inventory, d),
                      smCount(inventory, d),
                      config,
                      partitioned.contains(d.uuid()) ? inSpace(policy) : policy);
              return share.filter(MpsShare::promised).isPresent() ? limits.with(Flag.MPS) : limits;
            })
        .sorted(Comparator.comparingInt(DeviceLimits::nvmlIndex))
        .toList();
  }

  /**
   * A client's part of the multiprocessors is fixed at its start, so nobody lends on a partitioned
   * card; nor may one that is no client borrow time from clients, whose work no ledger shows.
   */
  private static ComputePolicy inSpace(ComputePolicy policy) {
    return policy == ComputePolicy.BALANCE ? ComputePolicy.FIXED : policy;
  }

  /** The entry of one card; {@code smCount} is 0 when the driver does not tell. */
  public static DeviceLimits of(
      DeviceClaim claim, GpuDevice card, int smCount, NodeConfig config, ComputePolicy policy) {
    int cores = claim.cores().value();
    boolean computeLimit = policy != ComputePolicy.NONE && cores > 0 && cores < 100;
    boolean oversubscribed = config.memoryScaling() > 1;
    boolean wholeMemory = claim.memory().value() == card.memory() && config.memoryScaling() == 1.0;

    Set<Flag> flags = EnumSet.noneOf(Flag.class);
    if (!wholeMemory) {
      flags.add(Flag.MEMORY_LIMIT);
    }
    if (computeLimit) {
      flags.add(Flag.COMPUTE_LIMIT);
    }
    if (oversubscribed) {
      flags.add(Flag.OVERSUBSCRIBE);
    }
    if (policy == ComputePolicy.BALANCE) {
      flags.add(Flag.BALANCE);
    }
    long limit = claim.memory().bytes();
    int hard = computeLimit ? 10 * cores : Abi.PERMILLE_FULL;
    int soft = policy == ComputePolicy.FIXED ? hard : Abi.PERMILLE_FULL;
    return new DeviceLimits(
        claim.uuid(),
        card.id(),
        smCount,
        flags,
        limit,
        oversubscribed ? (long) (limit / config.memoryScaling()) : limit,
        hard,
        soft);
  }

  private static GpuDevice published(GpuInventory inventory, DeviceClaim claim) {
    return inventory.published().devices().stream()
        .filter(d -> d.uuid().equals(claim.uuid()))
        .findFirst()
        .orElseThrow(() -> unknown(claim));
  }

  private static int smCount(GpuInventory inventory, DeviceClaim claim) {
    return inventory.card(claim.uuid()).orElseThrow(() -> unknown(claim)).gpu().smCount();
  }

  private static IllegalArgumentException unknown(DeviceClaim claim) {
    return new IllegalArgumentException(
        "claimed card " + claim.uuid() + ": must be one of this node's");
  }
}
