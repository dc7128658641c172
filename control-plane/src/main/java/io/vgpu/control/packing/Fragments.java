package io.vgpu.control.packing;

/**
 * The idle share of a node's cards that typical pods could not use right now: FGD's measure of
 * fragmentation (USENIX ATC'23), over the pods that this cluster sees. Pure; any thread.
 */
final class Fragments {
  private final TypicalPods pods;

  Fragments(TypicalPods pods) {
    this.pods = pods;
  }

  /**
   * Thousandths of cards, the mean over typical pods.
   *
   * @param onModel which kinds the node's model suits
   */
  double of(int cpu, int[] cards, boolean[] onModel) {
    int idle = 0;
    for (int c : cards) {
      idle += c;
    }
    if (idle == 0) {
      return 0;
    }
    double sum = 0;
    for (int i = 0; i < pods.size; i++) {
      sum += pods.frequency[i] * ofOne(i, cpu, cards, onModel, idle);
    }
    return sum;
  }

  /** All that is idle where the pod does not fit, else the cards that are too small for it. */
  private int ofOne(int i, int cpu, int[] cards, boolean[] onModel, int idle) {
    if (pods.count[i] == 0 || pods.cpu[i] > cpu || !onModel[i]) {
      return idle;
    }
    int share = pods.share[i];
    int fitting = 0;
    int tooSmall = 0;
    for (int c : cards) {
      if (c >= share) {
        fitting++;
      } else {
        tooSmall += c;
      }
    }
    return fitting >= pods.count[i] ? tooSmall : idle;
  }

  /**
   * The same measure of one node and of what becomes of it when a card has less: what the first
   * needs is kept for the others. One thread; used again for the next node.
   */
  final class Change {
    private final int[] fitting = new int[pods.size];
    private final int[] tooSmall = new int[pods.size];
    private final boolean[] usable = new boolean[pods.size];
    private int idle;

    /** Of a node; {@code cards}: so many of the array's count. */
    double of(int cpu, int[] cards, int n, boolean[] onModel) {
      idle = 0;
      for (int at = 0; at < n; at++) {
        idle += cards[at];
      }
      for (int i = 0; i < pods.size; i++) {
        usable[i] = pods.count[i] != 0 && pods.cpu[i] <= cpu && onModel[i];
        int fit = 0;
        int small = 0;
        if (usable[i]) {
          int share = pods.share[i];
          for (int at = 0; at < n; at++) {
            if (cards[at] >= share) {
              fit++;
            } else {
              small += cards[at];
            }
          }
        }
        fitting[i] = fit;
        tooSmall[i] = small;
      }
      return with(0, 0);
    }

    /** Of the same node, a card of it with {@code after} instead of {@code before} left. */
    double with(int before, int after) {
      int all = idle - before + after;
      if (all == 0) {
        return 0;
      }
      double sum = 0;
      for (int i = 0; i < pods.size; i++) {
        int one = all;
        if (usable[i]) {
          int share = pods.share[i];
          int fit = fitting[i];
          int small = tooSmall[i];
          if (before >= share) {
            if (after < share) {
              fit--;
              small += after;
            }
          } else {
            small += after - before;
          }
          one = fit >= pods.count[i] ? small : all;
        }
        sum += pods.frequency[i] * one;
      }
      return sum;
    }
  }

  Change change() {
    return new Change();
  }
}
