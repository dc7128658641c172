package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeLinks;
import io.vgpu.control.cluster.NodeLinks.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The best linked set of cards out of a list: the tightest tier that has one, in it the best group,
 * in that the best members (control-plane.md 3.12). Pure, deterministic.
 */
final class LinkSearch {
  private final NodeLinks links;
  private final GroupOrder order;
  private final SubsetSearch subsets;

  /**
   * @param cards in the list's order
   * @param spanned taken from more than one group
   */
  record Plan(List<Item> cards, Tier tier, boolean spanned) {}

  private record Scored(List<Item> group, double policy, long pairs) {}

  LinkSearch(NodeLinks links, GroupOrder order, SearchLog log) {
    this.links = links;
    this.order = order;
    this.subsets = new SubsetSearch(links, log);
  }

  /**
   * Finds {@code n} cards of {@code sorted}, the fixed positions among them; empty when the list is
   * too short.
   */
  Optional<Plan> find(List<Item> sorted, Set<Integer> fixed, int n) {
    for (Tier tier : Tier.values()) {
      Optional<List<Item>> group = bestGroup(tier, sorted, fixed, n);
      if (group.isPresent()) {
        return Optional.of(new Plan(members(group.get(), fixed, n, tier), tier, false));
      }
    }
    return n > 1 && sorted.size() >= n ? Optional.of(span(sorted, fixed, n)) : Optional.empty();
  }

  private Optional<List<Item>> bestGroup(Tier tier, List<Item> sorted, Set<Integer> fixed, int n) {
    List<List<Item>> able = new ArrayList<>();
    for (List<Item> group : groups(tier, sorted)) {
      boolean alone = group.size() == 1 && !links.hasPeer(group.getFirst().at(), tier);
      if (group.size() >= n && !alone && contains(group, fixed)) {
        able.add(group);
      }
    }
    if (able.size() < 2) {
      return able.stream().findFirst();
    }
    // the first of equals, and groups stand by their first member
    return able.stream()
        .map(g -> new Scored(g, order.score(g), pairs(g, fixed, n, tier)))
        .max(
            Comparator.comparingDouble(Scored::policy)
                .thenComparingLong(Scored::pairs)
                .thenComparing(s -> -able.indexOf(s.group())))
        .map(Scored::group);
  }

  /** The best sum of pair scores that {@code n} cards of the group can have. */
  private long pairs(List<Item> group, Set<Integer> fixed, int n, Tier tier) {
    if (n < 2) {
      return 0;
    }
    if (links.uniform(tier)) {
      return (long) links.score(group.get(0).at(), group.get(1).at()) * n * (n - 1) / 2;
    }
    List<Item> taken = group.stream().filter(i -> fixed.contains(i.at())).toList();
    List<Item> rest = group.stream().filter(i -> !fixed.contains(i.at())).toList();
    return subsets.bestSum(rest, taken, n - taken.size());
  }

  /** Components by direct links among these cards only: a card that is taken links nobody. */
  private List<List<Item>> groups(Tier tier, List<Item> sorted) {
    List<List<Item>> groups = new ArrayList<>();
    boolean[] seen = new boolean[sorted.size()];
    for (int start = 0; start < sorted.size(); start++) {
      if (!seen[start]) {
        groups.add(groupOf(start, seen, tier, sorted));
      }
    }
    return groups;
  }

  private List<Item> groupOf(int start, boolean[] seen, Tier tier, List<Item> sorted) {
    List<Integer> reached = new ArrayList<>(List.of(start));
    seen[start] = true;
    for (int i = 0; i < reached.size(); i++) {
      for (int k = 0; k < sorted.size(); k++) {
        if (!seen[k] && links.linked(sorted.get(reached.get(i)).at(), sorted.get(k).at(), tier)) {
          seen[k] = true;
          reached.add(k);
        }
      }
    }
    return reached.stream().sorted().map(sorted::get).toList();
  }

  private static boolean contains(List<Item> group, Set<Integer> fixed) {
    return group.stream().filter(i -> fixed.contains(i.at())).count() == fixed.size();
  }

  /** Whole runs of equal policy score while they fit, then the best part of the next. */
  private List<Item> members(List<Item> group, Set<Integer> fixed, int n, Tier tier) {
    List<Item> taken = new ArrayList<>();
    List<Item> rest = new ArrayList<>();
    group.forEach(i -> (fixed.contains(i.at()) ? taken : rest).add(i));
    for (List<Item> run : runs(rest)) {
      int missing = n - taken.size();
      if (run.size() <= missing) {
        taken.addAll(run);
      } else if (missing > 0) {
        List<Item> after = rest.stream().filter(i -> !taken.contains(i)).toList();
        taken.addAll(
            links.uniform(tier)
                ? run.subList(0, missing)
                : subsets.best(run, taken, after, missing, n));
      }
    }
    return inOrder(group, taken);
  }

  private List<List<Item>> runs(List<Item> group) {
    List<List<Item>> runs = new ArrayList<>();
    for (Item i : group) {
      if (runs.isEmpty() || order.apart(runs.getLast().getLast(), i)) {
        runs.add(new ArrayList<>());
      }
      runs.getLast().add(i);
    }
    return runs;
  }

  private static List<Item> inOrder(List<Item> list, List<Item> taken) {
    return list.stream().filter(taken::contains).toList();
  }

  /** No group is large enough: the largest first, then others (n > 1). */
  private Plan span(List<Item> sorted, Set<Integer> fixed, int n) {
    List<Item> taken =
        new ArrayList<>(sorted.stream().filter(i -> fixed.contains(i.at())).toList());
    List<List<Item>> groups = groups(Tier.ANY, sorted);
    List<List<Item>> largestFirst = new ArrayList<>(groups);
    largestFirst.sort(
        Comparator.<List<Item>>comparingInt(g -> -g.size())
            .thenComparingDouble(g -> -order.score(g))
            .thenComparingInt(groups::indexOf));
    for (List<Item> group : largestFirst) {
      List<Item> left = group.stream().filter(i -> !taken.contains(i)).toList();
      int missing = Math.min(n - taken.size(), left.size());
      if (missing > 0) {
        taken.addAll(members(left, Set.of(), missing, Tier.ANY));
      }
    }
    return new Plan(inOrder(sorted, taken), Tier.ANY, true);
  }
}
