package io.vgpu.event;

import io.vgpu.event.EventType.Delivery;
import io.vgpu.event.VgpuEvent.AllocationFailed;
import io.vgpu.event.VgpuEvent.ClaimAttached;
import io.vgpu.event.VgpuEvent.ClaimReleased;
import io.vgpu.event.VgpuEvent.ContainerOutOfMemory;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.VgpuEvent.PodPlaced;
import io.vgpu.event.VgpuEvent.UnaccountedLoad;
import java.util.List;

/**
 * Every kind of fact; a test walks the permitted records of {@link VgpuEvent} and fails when one
 * has no line here.
 */
public final class EventTypes {
  public static final EventType<GpuInventoryChanged> GPU_INVENTORY_CHANGED =
      new EventType<>(
          "gpu-inventory-changed.v1",
          GpuInventoryChanged.class,
          "vgpu.inventory",
          GpuInventoryChanged::node,
          Delivery.AT_LEAST_ONCE);
  public static final EventType<GpuHealthChanged> GPU_HEALTH_CHANGED =
      new EventType<>(
          "gpu-health-changed.v1",
          GpuHealthChanged.class,
          "vgpu.health",
          e -> e.gpu().value(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<PodPlaced> POD_PLACED =
      new EventType<>(
          "pod-placed.v1",
          PodPlaced.class,
          "vgpu.allocation",
          e -> e.pod().uid(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<ClaimAttached> CLAIM_ATTACHED =
      new EventType<>(
          "claim-attached.v1",
          ClaimAttached.class,
          "vgpu.allocation",
          e -> e.container().pod().uid(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<ClaimReleased> CLAIM_RELEASED =
      new EventType<>(
          "claim-released.v1",
          ClaimReleased.class,
          "vgpu.allocation",
          e -> e.container().pod().uid(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<AllocationFailed> ALLOCATION_FAILED =
      new EventType<>(
          "allocation-failed.v1",
          AllocationFailed.class,
          "vgpu.allocation",
          e -> e.pod().uid(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<ContainerOutOfMemory> CONTAINER_OUT_OF_MEMORY =
      new EventType<>(
          "container-memory-refused.v1",
          ContainerOutOfMemory.class,
          "vgpu.allocation",
          e -> e.container().pod().uid(),
          Delivery.AT_LEAST_ONCE);
  public static final EventType<UnaccountedLoad> UNACCOUNTED_LOAD =
      new EventType<>(
          "unaccounted-load-changed.v1",
          UnaccountedLoad.class,
          "vgpu.health",
          e -> e.gpu().value(),
          Delivery.AT_LEAST_ONCE);

  public static final List<EventType<?>> ALL =
      List.of(
          GPU_INVENTORY_CHANGED,
          GPU_HEALTH_CHANGED,
          POD_PLACED,
          CLAIM_ATTACHED,
          CLAIM_RELEASED,
          ALLOCATION_FAILED,
          CONTAINER_OUT_OF_MEMORY,
          UNACCOUNTED_LOAD);

  private EventTypes() {}

  /** The type of a fact. */
  @SuppressWarnings(
      "unchecked") // the list pairs each class with its own type, and records are final
  public static <T extends VgpuEvent> EventType<T> of(T event) {
    for (EventType<?> type : ALL) {
      if (type.type() == event.getClass()) {
        return (EventType<T>) type;
      }
    }
    throw new IllegalStateException("no event type for " + event.getClass().getName());
  }
}
