package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;

/**
 * A card's own figures at one moment: utilisation in percent (-1: the driver does not tell, as with
 * MIG), memory in bytes; {@code nanoTime} is monotonic.
 */
public record CardSample(
    GpuUuid gpu, long nanoTime, int utilizationPercent, long usedBytes, long totalBytes) {}
