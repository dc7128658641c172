package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.ClaimResolver.Allocation;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.LimitsRule;
import io.vgpu.agent.shim.MpsShare;
import io.vgpu.agent.shim.ShimWriter;
import io.vgpu.agent.shim.ShimWriter.ShimFiles;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A container's region files as its claim wants them, through the one {@link ShimWriter}. */
final class ContainerFiles {
  /** The files of a container, complete, and what is in them. */
  record Attached(ShimFiles files, List<DeviceLimits> limits, Optional<MpsShare> mps) {}

  private final ShimWriter shim;
  private final GpuInventory inventory;
  private final Supplier<String> nodePolicy;
  private final Set<GpuUuid> partitioned;

  /**
   * {@code nodePolicy}: the node's own compute policy text, may be empty; {@code partitioned}: the
   * cards that MPS partitions.
   */
  ContainerFiles(
      ShimWriter shim,
      GpuInventory inventory,
      Supplier<String> nodePolicy,
      Set<GpuUuid> partitioned) {
    this.shim = shim;
    this.inventory = inventory;
    this.nodePolicy = nodePolicy;
    this.partitioned = Set.copyOf(partitioned);
  }

  Outcome<Attached> attach(Allocation a, Deadline deadline) {
    return attach(a.entry(), a.claim(), deadline);
  }

  Outcome<Attached> attach(PodEntry entry, ContainerClaim claim, Deadline deadline) {
    Optional<List<DeviceLimits>> limits = limits(entry, claim);
    if (limits.isEmpty()) {
      return unknown(claim);
    }
    ContainerRef container = new ContainerRef(entry.pod(), claim.container());
    return switch (deadline.await(
        shim.attach(container, limits.get()), Reason.FILES_NOT_WRITTEN, "files of " + container)) {
      case Outcome.Refused<ShimFiles> r -> r.as();
      case Outcome.Given<ShimFiles>(ShimFiles files) ->
          Outcome.given(
              new Attached(
                  files, limits.get(), MpsShare.of(claim, inventory, policy(entry), partitioned)));
    };
  }

  /** The limits must carry the claim; then {@code usage} starts anew. */
  Outcome<Boolean> verifyAndReset(Allocation a, Deadline deadline) {
    Optional<List<DeviceLimits>> limits = limits(a.entry(), a.claim());
    if (limits.isEmpty()) {
      return unknown(a.claim());
    }
    ContainerRef container = new ContainerRef(a.pod(), a.claim().container());
    Outcome<Boolean> carried =
        deadline.await(
            shim.carries(container, limits.get()),
            Reason.FILES_NOT_WRITTEN,
            "limits of " + container);
    return switch (carried) {
      case Outcome.Refused<Boolean> r -> r;
      case Outcome.Given<Boolean>(Boolean yes) -> {
        if (!yes) {
          yield Outcome.refused(
              a.pod(),
              Reason.FILES_NOT_WRITTEN,
              "limits of " + container + " do not carry the claim");
        }
        yield switch (deadline.await(
            shim.resetUsage(container), Reason.FILES_NOT_WRITTEN, "usage of " + container)) {
          case Outcome.Refused<Void> r -> r.as();
          case Outcome.Given<Void> g -> Outcome.given(true);
        };
      }
    };
  }

  /** Empty when a claimed card is not one of the node's. */
  private Optional<List<DeviceLimits>> limits(PodEntry entry, ContainerClaim claim) {
    Set<GpuUuid> known =
        inventory.published().devices().stream().map(GpuDevice::uuid).collect(Collectors.toSet());
    if (!claim.uuids().stream().allMatch(u -> known.contains(u) && inventory.card(u).isPresent())) {
      return Optional.empty();
    }
    List<DeviceLimits> limits = LimitsRule.of(claim, inventory, policy(entry), partitioned);
    return Optional.of(
        entry.latency() ? limits.stream().map(d -> d.with(Flag.LATENCY)).toList() : limits);
  }

  private ComputePolicy policy(PodEntry entry) {
    return ComputePolicy.of(entry.policy(), nodePolicy.get());
  }

  private static <T> Outcome<T> unknown(ContainerClaim claim) {
    return Outcome.refused(
        Reason.DEVICE_UNKNOWN,
        "container " + claim.container() + " claims " + claim.uuids() + ", not all on this node");
  }
}
