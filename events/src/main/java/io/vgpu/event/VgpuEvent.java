package io.vgpu.event;

import io.vgpu.model.ContainerRef;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeInventory;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.time.Instant;
import java.util.List;

/**
 * What happened, as immutable facts in the past tense. Each record has one line in {@link
 * EventTypes}. Losing or repeating one is harmless to control: reconcilers look at what is
 * (architecture.md 3).
 */
public sealed interface VgpuEvent {
  /** When the fact was true, by the publisher's clock. */
  Instant at();

  /** A node's cards, links or division changed. */
  record GpuInventoryChanged(Instant at, String node, NodeInventory inventory)
      implements VgpuEvent {}

  /** A card became healthy or unhealthy; {@code cause} is for people. */
  record GpuHealthChanged(Instant at, String node, GpuUuid gpu, boolean healthy, String cause)
      implements VgpuEvent {}

  /**
   * The Binding with this allocation was accepted by the API server; {@code explanation} says why
   * there.
   */
  record PodPlaced(Instant at, String node, PodRef pod, PodClaim claim, String explanation)
      implements VgpuEvent {}

  /** A container's limits are written and its Allocate was answered. */
  record ClaimAttached(Instant at, String node, ContainerRef container, List<DeviceClaim> devices)
      implements VgpuEvent {
    public ClaimAttached {
      devices = List.copyOf(devices);
    }
  }

  /** A container's pod is gone and its files are removed. */
  record ClaimReleased(Instant at, String node, ContainerRef container) implements VgpuEvent {}

  /**
   * A pod was refused while it was being admitted, or its Allocate failed; {@code detail} is what
   * the kubelet was told.
   */
  record AllocationFailed(Instant at, String node, PodRef pod, Reason reason, String detail)
      implements VgpuEvent {}

  /**
   * A container asked for more device memory than it has on a card, and was refused.
   *
   * @param count refusals since the container's {@code usage} began, as the container tells
   * @param lastBytes the size that was refused last; what is above {@code Long.MAX_VALUE} counts as
   *     that
   */
  record ContainerOutOfMemory(
      Instant at, String node, ContainerRef container, GpuUuid gpu, long count, long lastBytes)
      implements VgpuEvent {}

  /**
   * The load that the driver shows of a card and what its containers were charged began to disagree
   * by more than twenty points, or agree again: then somebody computes there whom nobody limits.
   *
   * @param unaccounted whether they disagree
   * @param cardPermille the driver's figure
   * @param containersPermille the sum over the card's containers
   * @param unlimited containers with processes there whose time is not charged because they have no
   *     limit
   */
  record UnaccountedLoad(
      Instant at,
      String node,
      GpuUuid gpu,
      boolean unaccounted,
      int cardPermille,
      int containersPermille,
      int unlimited)
      implements VgpuEvent {}
}
