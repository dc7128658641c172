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
  private double[] values = new double[16];
  private boolean[] able = new boolean[16];
  private boolean[] taken = new boolean[16];
  private CardSums sums = CardSums.NONE;
  private int cards;
  private int candidates;
  private int wanted;
  private long cores;
  private long memory;
  private int cpuBefore;
  private int cpuAfter;
  private boolean prepared;
  private double beside;

  Glance(WorkloadModel now) {
    this.now = now;
    this.fragmented = now.fragmented();
  }

  /**
   * The next node.
   *
   * @param wanted cards of the container; at least so many must be made able
   * @param cores and {@code memory}: what it takes of each; 0 MiB are all that a card has
   * @param cpuBefore milli-CPU without the pod, as rooms count it, and with it
   */
  public void start(
      CardSums node, int wanted, long cores, long memory, int cpuBefore, int cpuAfter) {
    this.sums = node;
    this.cards = node.size();
    this.candidates = 0;
    this.wanted = wanted;
    this.cores = cores;
    this.memory = memory;
    this.cpuBefore = cpuBefore;
    this.cpuAfter = cpuAfter;
    this.prepared = false;
    if (left.length < cards) {
      left = new int[cards];
      share = new int[cards];
      values = new double[cards];
      able = new boolean[cards];
      taken = new boolean[cards];
    }
    node.copyLeft(left);
    for (int at = 0; at < cards; at++) {
      able[at] = false;
      taken[at] = false;
    }
    fragmented.on(node.model());
  }

  /** The container can have this card, and would take so much of an empty one. */
  public void able(int at, int itsShare) {
    able[at] = true;
    share[at] = itsShare;
    candidates++;
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
    /**
     * {@code beside} and {@code without}: {@link WorkloadModel#fragmented} with the pod's CPU gone,
     * and with the card's share gone too.
     */
    double of(double beside, double without);
  }

  /**
   * Takes as many cards as are wanted, the best first.
   *
   * @param emptiestLast of equals the card with least left comes first, not the first by place
   */
  void choose(Value value, boolean emptiestLast) {
    if (candidates <= wanted) {
      System.arraycopy(able, 0, taken, 0, cards);
      return;
    }
    beside = fragmented.prepare(cpuAfter, left, cards);
    prepared = true;
    for (int at = 0; at < cards; at++) {
      if (able[at]) {
        int before = left[at];
        values[at] = value.of(beside, fragmented.with(before, Math.max(0, before - share[at])));
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

  /** Of the node without the pod; after {@link #choose}. */
  double fragmentedBefore() {
    return prepared && fragmented.alike(cpuBefore, cpuAfter)
        ? beside
        : fragmented.of(cpuBefore, left, cards);
  }

  /** Of the node with the pod on the cards chosen; ends the look. */
  double fragmentedAfter() {
    int last = -1;
    int lastBefore = 0;
    for (int at = 0; at < cards; at++) {
      if (taken[at]) {
        last = at;
        lastBefore = left[at];
        left[at] = sums.leftWith(at, cores, memory == 0 ? sums.memory(at) : memory);
      }
    }
    return prepared && wanted == 1
        ? fragmented.with(lastBefore, left[last])
        : fragmented.of(cpuAfter, left, cards);
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
