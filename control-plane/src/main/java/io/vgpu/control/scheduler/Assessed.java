package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Standing;

/**
 * A pod on a node where it fits.
 *
 * @param footprint what it would take there
 * @param fitness how well the node is built for the pod's topology mode; comes before the score
 * @param score higher is better; compared only with the same pod's on other nodes, at the same look
 */
public record Assessed(Standing node, Footprint footprint, int fitness, double score) {}
