package io.vgpu.control.packing;

import java.util.SplittableRandom;

/**
 * How much of a node's cards the pods to come can be expected to get: the mean over a few fixed
 * sequences of typical pods, each placed on the card where it leaves least. The sequences are the
 * same for every node (common random numbers), so that differences between nodes are not noise.
 * Pure; any thread.
 */
final class UsableCapacity {
  /** For the life of the product: the same workload gives the same sequences everywhere. */
  static final long SEED = 20_23;

  private static final int SEQUENCES = 32;
  private static final int LENGTH = 60;

  /** Pods without cards have other places to go. */
  private static final double CPU_ONLY = 0.3;

  private final TypicalPods pods;
  private final int[][] sequences;

  UsableCapacity(TypicalPods pods, long seed) {
    this.pods = pods;
    this.sequences = draw(pods, new SplittableRandom(seed));
  }

  private static int[][] draw(TypicalPods pods, SplittableRandom random) {
    double[] upTo = new double[pods.size];
    double sum = 0;
    for (int i = 0; i < pods.size; i++) {
      sum += pods.frequency[i] * (pods.count[i] == 0 ? CPU_ONLY : 1);
      upTo[i] = sum;
    }
    int[][] sequences = new int[SEQUENCES][LENGTH];
    for (int[] sequence : sequences) {
      for (int k = 0; k < LENGTH; k++) {
        double at = random.nextDouble() * sum;
        int i = 0;
        while (i < pods.size - 1 && upTo[i] <= at) {
          i++;
        }
        sequence[k] = i;
      }
    }
    return sequences;
  }

  /**
   * Thousandths of cards.
   *
   * @param onModel which kinds the node's model suits
   */
  double of(int cpu, int memory, int[] cards, boolean[] onModel) {
    if (pods.size == 0) {
      return 0;
    }
    int smallest = smallestShare(cpu, onModel);
    if (largest(cards) < smallest) {
      return 0;
    }
    int[] left = new int[cards.length];
    long got = 0;
    for (int[] sequence : sequences) {
      System.arraycopy(cards, 0, left, 0, cards.length);
      got += play(sequence, cpu, memory, left, onModel, smallest);
    }
    return (double) got / sequences.length;
  }

  /** What the least of the pods that the node suits at all takes of a card. */
  private int smallestShare(int cpu, boolean[] onModel) {
    int smallest = Integer.MAX_VALUE;
    for (int i = 0; i < pods.size; i++) {
      if (pods.count[i] > 0 && onModel[i] && pods.cpu[i] <= cpu) {
        smallest = Math.min(smallest, pods.share[i]);
      }
    }
    return smallest;
  }

  private static int largest(int[] cards) {
    int largest = 0;
    for (int c : cards) {
      largest = Math.max(largest, c);
    }
    return largest;
  }

  private long play(
      int[] sequence, int cpu, int memory, int[] left, boolean[] onModel, int smallest) {
    long got = 0;
    for (int i : sequence) {
      if (pods.cpu[i] <= cpu
          && pods.memory[i] <= memory
          && onModel[i]
          && take(left, pods.share[i], pods.count[i])) {
        cpu -= pods.cpu[i];
        memory -= pods.memory[i];
        got += (long) pods.share[i] * pods.count[i];
        if (pods.count[i] > 0 && largest(left) < smallest) {
          return got; // nobody who follows finds room
        }
      }
    }
    return got;
  }

  private static boolean take(int[] left, int share, int count) {
    if (count == 0) {
      return true;
    }
    if (count > 1 && fitting(left, share) < count) {
      return false;
    }
    for (int k = 0; k < count; k++) {
      int best = -1;
      for (int at = 0; at < left.length; at++) {
        if (left[at] >= share && (best < 0 || left[at] < left[best])) {
          best = at;
        }
      }
      if (best < 0) {
        return false;
      }
      // the same card is not taken twice: count > 1 asks for distinct cards
      left[best] = count > 1 ? -1 - (left[best] - share) : left[best] - share;
    }
    if (count > 1) {
      for (int at = 0; at < left.length; at++) {
        left[at] = left[at] < 0 ? -1 - left[at] : left[at];
      }
    }
    return true;
  }

  private static int fitting(int[] left, int share) {
    int n = 0;
    for (int c : left) {
      if (c >= share) {
        n++;
      }
    }
    return n;
  }
}
