package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;
import java.util.function.Supplier;

/**
 * One pod on one node, its cards chosen.
 *
 * @param load sums over the node's cards and what the pod needs
 * @param weights of the sums' dimensions, by what the pod asks for
 * @param before room of the node without the pod
 * @param after room of the node with it
 */
public record NodeChoice(
    Supplier<NodeLoad> load,
    Supplier<Weights> weights,
    Supplier<Room> before,
    Supplier<Room> after,
    Look look) {}
