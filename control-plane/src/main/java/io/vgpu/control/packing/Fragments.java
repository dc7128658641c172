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
}
