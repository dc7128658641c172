package io.vgpu.control.scheduler.policy;

import io.vgpu.control.cluster.CardSums;
import io.vgpu.control.packing.WorkloadModel;

/**
 * One container's quick look at one node after the other, for policies that choose the cards to
 * know the score: the same numbers as a plan's, in arrays that are used again, because thousands of
 * nodes are looked at for one pod. One thread.
 */
public final class Glance {
  private final WorkloadModel now;
  private final WorkloadModel.Fragmented fragmented;
  private int[] left = new int[16];
  private int[] share = new int[16];
  private int[] after = new int[16];
  private double[] values = new double[16];
  private boolean[] able = new boolean[16];
  private boolean[] taken = new boolean[16];
  private int cards;
  private int wanted;
  private int cpuBefore;
  private int cpuAfter;
  private String model = "";

  Glance(WorkloadModel now) {
    this.now = now;
    this.fragmented = now.fragmented();
  }

  /**
   * The next node.
   *
   * @param wanted cards of the container; at least so many must be made able
   * @param cpuBefore milli-CPU without the pod, as rooms count it, and with it
   */
  public void start(CardSums sums, int wanted, int cpuBefore, int cpuAfter) {
    this.cards = sums.size();
    this.wanted = wanted;
    this.cpuBefore = cpuBefore;
    this.cpuAfter = cpuAfter;
    this.model = sums.model();
    if (left.length < cards) {
      left = new int[cards];
      share = new int[cards];
      after = new int[cards];
      values = new double[cards];
      able = new boolean[cards];
      taken = new boolean[cards];
    }
    for (int at = 0; at < cards; at++) {
      left[at] = sums.left(at);
      able[at] = false;
      taken[at] = false;
    }
  }

  /** The container can have this card. */
  public void able(int at, int itsShare, int leftWithIt) {
    able[at] = true;
    share[at] = itsShare;
    after[at] = leftWithIt;
  }

  /** Whether the card was chosen. */
  public boolean taken(int at) {
    return taken[at];
  }

  /** The share of an able card that the container takes. */
  public int share(int at) {
    return share[at];
  }

  /** Values an able card, higher is better. */
  @FunctionalInterface
  interface Value {
    double of(Glance glance, int at);
  }

  /**
   * Takes as many cards as are wanted, the best first.
   *
   * @param emptiestLast of equals the card with least left comes first, not the first by place
   */
  void choose(Value value, boolean emptiestLast) {
    int candidates = 0;
    for (int at = 0; at < cards; at++) {
      candidates += able[at] ? 1 : 0;
    }
    if (candidates <= wanted) {
      System.arraycopy(able, 0, taken, 0, cards);
      return;
    }
    for (int at = 0; at < cards; at++) {
      if (able[at]) {
        int alike = alike(at);
        values[at] = alike < 0 ? value.of(this, at) : values[alike];
      }
    }
    for (int k = 0; k < wanted; k++) {
      int best = -1;
      for (int at = 0; at < cards; at++) {
        if (able[at] && !taken[at] && (best < 0 || before(at, best, emptiestLast))) {
          best = at;
        }
      }
      taken[best] = true;
    }
  }

  /** Strictly before a card that stands earlier. */
  private boolean before(int at, int best, boolean emptiestLast) {
    int byValue = Double.compare(values[best], values[at]);
    return byValue < 0 || (byValue == 0 && emptiestLast && left[at] < left[best]);
  }

  /** An earlier able card in the same state; -1 where there is none. */
  private int alike(int at) {
    for (int other = 0; other < at; other++) {
      if (able[other] && left[other] == left[at] && share[other] == share[at]) {
        return other;
      }
    }
    return -1;
  }

  /** {@link WorkloadModel#fragmented} with the pod's CPU gone. */
  double fragmentedBesideIt() {
    return fragmented.of(cpuAfter, left, cards, model);
  }

  /** The same with the card's share gone too; after {@link #fragmentedBesideIt}. */
  double fragmentedWithout(int at) {
    return fragmented.with(left[at], Math.max(0, left[at] - share[at]));
  }

  /** Of the node without the pod. */
  double fragmentedBefore() {
    return fragmented.of(cpuBefore, left, cards, model);
  }

  /** Of the node with the pod on the cards chosen; ends the look. */
  double fragmentedAfter() {
    for (int at = 0; at < cards; at++) {
      left[at] = taken[at] ? after[at] : left[at];
    }
    return fragmented.of(cpuAfter, left, cards, model);
  }

  /** What all cards have left. */
  int free() {
    int free = 0;
    for (int at = 0; at < cards; at++) {
      free += left[at];
    }
    return free;
  }

  /** {@link WorkloadModel#tight} of the node with the pod; after {@link #fragmentedAfter}. */
  double tightAfter() {
    return now.tight(cpuAfter, free());
  }
}
