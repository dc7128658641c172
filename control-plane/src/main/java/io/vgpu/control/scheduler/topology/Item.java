package io.vgpu.control.scheduler.topology;

/**
 * A card that a container could have.
 *
 * @param at its position in the node's list
 * @param id its index, for people
 * @param numa its NUMA node, negative when unknown
 * @param free mean of its free fractions times 100, before placing
 */
public record Item(int at, int id, int numa, double free) {}
