package io.vgpu.agent.refund;

/**
 * One container as turns see it.
 *
 * @param name not 0
 * @param working something in flight on the card, or waiting to be
 * @param latency asks for latency
 * @param borrows policy balance or none: a part of what is idle is its own
 * @param permille its limit
 * @param bucketNs positive: it may launch
 * @param longestNs its longest slice lately
 */
public record TurnLook(
    long name,
    boolean working,
    boolean latency,
    boolean borrows,
    int permille,
    long bucketNs,
    long longestNs) {}
