package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import java.util.Optional;

/**
 * A critical event of a card; {@code gpu} is empty when the driver could not say which, {@code xid}
 * is the error's number.
 */
public record HealthEvent(Optional<GpuUuid> gpu, int xid) {}
