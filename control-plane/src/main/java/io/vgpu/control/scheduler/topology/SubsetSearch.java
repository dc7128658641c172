package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeLinks;
import java.util.ArrayList;
import java.util.List;

/**
 * The k cards of a list with the highest sum of pair scores, to each other and to cards already
 * taken; of equals the one that leaves the best behind, then the first (control-plane.md 3.12).
 */
final class SubsetSearch {
  /** Above this many subsets one card after the other is taken. */
  static final long MOST_SUBSETS = 50_000;

  private final NodeLinks links;
  private final SearchLog log;

  SubsetSearch(NodeLinks links, SearchLog log) {
    this.links = links;
    this.log = log;
  }

  /**
   * @param after what of the group is not taken yet, {@code run} included
   * @param same how many cards the container has in all: the size that what is left is measured by
   */
  List<Item> best(List<Item> run, List<Item> taken, List<Item> after, int k, int same) {
    boolean exhaustive = subsets(run.size(), k) <= MOST_SUBSETS;
    log.searched(exhaustive, run.size());
    return exhaustive ? new Exhaustive(run, taken, after, k, same).best() : greedy(run, taken, k);
  }

  /** The best sum alone, {@code taken}'s own pairs included. */
  long bestSum(List<Item> rest, List<Item> taken, int k) {
    List<Item> set = new ArrayList<>(taken);
    set.addAll(
        subsets(rest.size(), k) <= MOST_SUBSETS
            ? new Exhaustive(rest, taken, List.of(), k, 0).best()
            : greedy(rest, taken, k));
    long sum = 0;
    for (int i = 0; i < set.size(); i++) {
      sum += gain(set.get(i), set.subList(0, i));
    }
    return sum;
  }

  /** C(n, k), capped. */
  static long subsets(int n, int k) {
    long c = 1;
    for (int i = 1; i <= Math.min(k, n - k); i++) {
      c = c * (n - i + 1) / i;
      if (c > MOST_SUBSETS) {
        return c;
      }
    }
    return c;
  }

  private long gain(Item card, List<Item> others) {
    long gain = 0;
    for (Item o : others) {
      gain += links.score(card.at(), o.at());
    }
    return gain;
  }

  /** Again and again the card with the highest gain; the first of equals. */
  private List<Item> greedy(List<Item> from, List<Item> taken, int k) {
    List<Item> left = new ArrayList<>(from);
    List<Item> chosen = new ArrayList<>(taken);
    List<Item> added = new ArrayList<>();
    while (added.size() < k) {
      Item best = left.getFirst();
      for (Item i : left) {
        if (gain(i, chosen) > gain(best, chosen)) {
          best = i;
        }
      }
      left.remove(best);
      chosen.add(best);
      added.add(best);
    }
    return added;
  }

  /** What {@code size} cards of the remaining could have, from the first one on. */
  private long greedyScore(List<Item> remaining, int size) {
    if (size < 2 || remaining.size() < size) {
      return 0;
    }
    List<Item> set = new ArrayList<>(List.of(remaining.getFirst()));
    set.addAll(greedy(remaining.subList(1, remaining.size()), set, size - 1));
    long sum = 0;
    for (int i = 1; i < set.size(); i++) {
      sum += gain(set.get(i), set.subList(0, i));
    }
    return sum;
  }

  /** All subsets, in lexicographic order. */
  private final class Exhaustive {
    private final List<Item> run;
    private final List<Item> taken;
    private final List<Item> after;
    private final int k;
    private final int same;
    private final List<Item> current = new ArrayList<>();
    private List<Item> best = List.of();
    private long bestSum = -1;
    private long bestLeft = -1;

    Exhaustive(List<Item> run, List<Item> taken, List<Item> after, int k, int same) {
      this.run = run;
      this.taken = taken;
      this.after = after;
      this.k = k;
      this.same = same;
    }

    List<Item> best() {
      extend(0, 0);
      return best;
    }

    private void extend(int from, long sum) {
      if (current.size() == k) {
        judge(sum);
        return;
      }
      int last = run.size() - (k - current.size());
      for (int i = from; i <= last; i++) {
        Item card = run.get(i);
        long more = gain(card, taken) + gain(card, current);
        current.add(card);
        extend(i + 1, sum + more);
        current.removeLast();
      }
    }

    private void judge(long sum) {
      if (sum < bestSum) {
        return;
      }
      long left = greedyScore(after.stream().filter(i -> !current.contains(i)).toList(), same);
      if (sum > bestSum || left > bestLeft) {
        best = List.copyOf(current);
        bestSum = sum;
        bestLeft = left;
      }
    }
  }
}
