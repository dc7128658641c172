package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.CardSums;
import io.vgpu.control.scheduler.topology.Pick.Picked;
import io.vgpu.control.scheduler.topology.Pick.Unsatisfied;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** All cards of a container on one NUMA node, where it can be (control-plane.md 3.11). Pure. */
final class NumaPicker {
  private final String node;
  private final boolean strict;
  private final GroupOrder order;

  NumaPicker(String node, boolean strict, GroupOrder order) {
    this.node = node;
    this.strict = strict;
    this.order = order;
  }

  /**
   * @param sorted the cards to choose from, in policy order, {@code fixed} among them
   * @param fixed positions that the container has anyway
   */
  Pick pick(List<Item> sorted, Set<Integer> fixed, int n) {
    Map<Integer, List<Item>> groups = new TreeMap<>();
    for (Item card : sorted) {
      if (card.numa() >= 0) {
        groups.computeIfAbsent(card.numa(), k -> new ArrayList<>()).add(card);
      }
    }
    List<Item> best = List.of();
    for (List<Item> group : groups.values()) {
      // equal scores: the lower NUMA id, which the map visits first
      boolean able = group.size() >= n && has(group, fixed);
      if (able && (best.isEmpty() || order.score(group) > order.score(best))) {
        best = group;
      }
    }
    if (!best.isEmpty()) {
      return new Picked(firstOf(best, fixed, n), Closeness.NUMA, "", Alignment.Window.NONE);
    }
    String why = why(groups.isEmpty(), n, most(groups));
    if (strict) {
      return new Unsatisfied(Reason.NUMA_TOPOLOGY_UNSATISFIED, why);
    }
    return new Picked(
        firstOf(sorted, fixed, n),
        groups.isEmpty() ? Closeness.NONE : Closeness.CROSS_NUMA,
        "NUMA topology unsatisfiable on node \""
            + node
            + "\" ("
            + why
            + "); falling back to non-topology allocation",
        Alignment.Window.NONE);
  }

  private static String why(boolean none, int n, int most) {
    return none
        ? "no card's NUMA node is known"
        : "no NUMA node has " + n + " cards that fit (the most have " + most + ")";
  }

  /** As {@link Topology#strictRefusal}. */
  static Optional<Unsatisfied> strictRefusal(CardSums node, boolean[] passes, int n) {
    int most = 0;
    int cards = node.size();
    for (int at = 0; at < cards; at++) {
      int numa = passes[at] ? node.numa(at) : -1;
      if (numa >= 0) {
        int group = 0;
        for (int other = 0; other < cards; other++) {
          group += passes[other] && node.numa(other) == numa ? 1 : 0;
        }
        most = Math.max(most, group);
        if (most >= n) {
          return Optional.empty();
        }
      }
    }
    return Optional.of(new Unsatisfied(Reason.NUMA_TOPOLOGY_UNSATISFIED, why(most == 0, n, most)));
  }

  private static int most(Map<Integer, List<Item>> groups) {
    Optional<Integer> most = groups.values().stream().map(List::size).max(Integer::compare);
    return most.orElse(0);
  }

  private static boolean has(List<Item> group, Set<Integer> fixed) {
    return group.stream().filter(i -> fixed.contains(i.at())).count() == fixed.size();
  }

  /** The fixed ones, and the first others up to {@code n}. */
  static List<Integer> firstOf(List<Item> sorted, Set<Integer> fixed, int n) {
    List<Integer> cards = new ArrayList<>(fixed);
    for (Item i : sorted) {
      if (cards.size() < n && !fixed.contains(i.at())) {
        cards.add(i.at());
      }
    }
    return cards;
  }
}
