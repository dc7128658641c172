package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import java.util.Optional;

/** What the driver tells of a card's health (node-agent.md 2.5). */
public sealed interface HealthEvent {
  /**
   * A critical error; {@code device} is the card or MIG slice, empty when the driver could not say
   * which, {@code xid} the error's number.
   */
  record Xid(Optional<GpuUuid> device, int xid) implements HealthEvent {}

  /** The card cannot be watched, for a reason that speaks against it; told once. */
  record NotWatchable(GpuUuid gpu, String cause) implements HealthEvent {}
}
