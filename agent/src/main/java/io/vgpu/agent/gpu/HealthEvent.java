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

  /**
   * The card cannot be watched, for a reason that speaks against it; told once. {@code lost}: it
   * has fallen off the bus.
   */
  record NotWatchable(GpuUuid gpu, String cause, boolean lost) implements HealthEvent {}

  /**
   * Memory errors; {@code device} as above. Those of one bit were corrected; what uncorrected ones
   * mean for the card is told by an {@link Xid} as well, where the driver has one for it.
   */
  record Ecc(Optional<GpuUuid> device, boolean corrected) implements HealthEvent {}
}
