package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * One container's choice of cards on one node. Any thread, one use.
 *
 * @param candidates the cards that fit, by id
 * @param number how many of them are wanted
 * @param room of the node before the container, the pod's CPU and memory already taken
 */
public record CardChoice(List<CardRank> candidates, int number, Supplier<Room> room, Look look) {
  /** The candidates in this order. */
  public List<CardRank> sorted(Comparator<CardRank> order) {
    return candidates.size() < 2 ? candidates : candidates.stream().sorted(order).toList();
  }
}
