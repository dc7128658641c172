package io.vgpu.control.cluster;

import io.vgpu.model.PodClaim;
import io.vgpu.model.PodRef;

/**
 * A commit under way: its cards are taken from the moment of the plan, before the API server knows.
 *
 * @param uncertain the outcome of its request is unknown; a further try must use the same claim
 * @param untilNanos when somebody has to look at the API for what became of it
 */
public record Reservation(
    PodRef pod,
    String node,
    PodClaim claim,
    Footprint footprint,
    boolean uncertain,
    long untilNanos) {}
