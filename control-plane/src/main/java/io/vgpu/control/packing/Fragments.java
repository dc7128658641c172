package io.vgpu.control.packing;

import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The idle share of a node's cards that typical pods could not use right now: FGD's measure of
 * fragmentation (USENIX ATC'23), over the pods that this cluster sees. Frequencies are whole
 * numbers here, so that sums are the same in whatever order and from whatever parts they are added
 * up. Immutable; any thread.
 */
final class Fragments {
  /** One unit of a frequency: sums of nodes with up to 32 cards are exact as doubles too. */
  private static final double UNIT = 0x1p-38;

  final int size;
  final long[] weight;
  final long allWeights;
  final int[] share;
  final int[] count;
  final int[] cpu;

  /** By what is left of a card: how many kinds ask for no more; those before them in order do. */
  final byte[] kindsUpTo = new byte[Room.CARD + 1];

  /** The place of each in {@link TypicalPods}: here the smallest share comes first. */
  final int[] kinds;

  Fragments(TypicalPods pods) {
    size = pods.size;
    kinds =
        IntStream.range(0, size)
            .boxed()
            .sorted(Comparator.comparingInt(i -> pods.share[i]))
            .mapToInt(Integer::intValue)
            .toArray();
    weight = new long[size];
    share = new int[size];
    count = new int[size];
    cpu = new int[size];
    long sum = 0;
    for (int i = 0; i < size; i++) {
      weight[i] = Math.round(pods.frequency[kinds[i]] / UNIT);
      share[i] = pods.share[kinds[i]];
      count[i] = pods.count[kinds[i]];
      cpu[i] = pods.cpu[kinds[i]];
      sum += weight[i];
    }
    allWeights = sum;
    int upTo = 0;
    for (int left = 0; left < kindsUpTo.length; left++) {
      while (upTo < size && share[upTo] <= left) {
        upTo++;
      }
      kindsUpTo[left] = (byte) upTo;
    }
  }

  /**
   * Thousandths of cards, the mean over typical pods, by its definition.
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
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += weight[i] * ofOne(i, cpu, cards, onModel, idle);
    }
    return thousandths(sum);
  }

  /** All that is idle where the pod does not fit, else the cards that are too small for it. */
  private int ofOne(int i, int cpu, int[] cards, boolean[] onModel, int idle) {
    if (!runs(i, cpu, onModel)) {
      return idle;
    }
    int fitting = 0;
    int tooSmall = 0;
    for (int c : cards) {
      if (c >= share[i]) {
        fitting++;
      } else {
        tooSmall += c;
      }
    }
    return fitting >= count[i] ? tooSmall : idle;
  }

  /**
   * Whether pods of a kind would use cards of the model at all, on a node with so much CPU left.
   */
  boolean runs(int i, int cpu, boolean[] onModel) {
    return count[i] != 0 && this.cpu[i] <= cpu && onModel[kinds[i]];
  }

  /** A sum of weights times thousandths. */
  static double thousandths(long weighted) {
    return weighted * UNIT;
  }
}
