package io.vgpu.control.simulate;

/**
 * One moment of a replay; percentages are of all usable cards.
 *
 * @param arrived what the pods so far have asked for
 * @param allocated what the placed ones among them have
 * @param fragmented what is idle and of no use to typical pods
 */
public record Point(
    String policy, long seed, double arrived, double allocated, double fragmented) {}
