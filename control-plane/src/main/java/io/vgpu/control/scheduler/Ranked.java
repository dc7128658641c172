package io.vgpu.control.scheduler;

import java.util.Arrays;

/**
 * Nodes in the order of a policy, best first: higher fitness, then higher score, then name
 * (control-plane.md 3.7). Plain arrays, because there are thousands of them at every call.
 * Immutable.
 */
final class Ranked {
  private static final int DIGIT = 11;
  private static final int DIGITS = (Long.SIZE + DIGIT - 1) / DIGIT;

  private final int[] order;
  private final int[] positions;
  private final int[] fitness;
  private final double[] scores;

  private Ranked(int[] order, int[] positions, int[] fitness, double[] scores) {
    this.order = order;
    this.positions = positions;
    this.fitness = fitness;
    this.scores = scores;
  }

  /**
   * Sorts; all arrays are handed over.
   *
   * @param positions of the nodes among those asked about, in the order of names, which decides
   *     among equals
   * @param n how many of the arrays' elements count
   */
  static Ranked of(int[] positions, int[] fitness, double[] scores, int n) {
    long[] keys = new long[n];
    for (int i = 0; i < n; i++) {
      // the order of Double.compare, turned: the best first, as unsigned numbers
      long bits = Double.doubleToLongBits(scores[i]);
      keys[i] = ~((bits ^ ((bits >> 63) & Long.MAX_VALUE)) ^ Long.MIN_VALUE);
    }
    return new Ranked(byFitness(sorted(keys), fitness), positions, fitness, scores);
  }

  /**
   * The same with the first ones in another order, at other scores.
   *
   * @param first their positions, best first: those of the first ranks, each once
   */
  Ranked withFirst(int[] first, double[] newScores) {
    if (first.length == 0) {
      return this;
    }
    int[] ranks = order.clone();
    double[] all = scores.clone();
    for (int rank = 0; rank < first.length; rank++) {
      for (int old = 0; old < first.length; old++) {
        if (position(old) == first[rank]) {
          ranks[rank] = order[old];
          all[order[old]] = newScores[rank];
        }
      }
    }
    return new Ranked(ranks, positions, fitness, all);
  }

  /** Sorted by somebody else. */
  static Ranked inOrder(int[] positions, int[] fitness, double[] scores) {
    int[] order = new int[positions.length];
    Arrays.setAll(order, i -> i);
    return new Ranked(order, positions, fitness, scores);
  }

  /** Digit by digit from the lowest; a digit in which all agree costs nothing. Stable. */
  private static int[] sorted(long[] keys) {
    int n = keys.length;
    long same = -1;
    for (long k : keys) {
      same &= ~(k ^ keys[0]);
    }
    int[] order = new int[n];
    Arrays.setAll(order, i -> i);
    int[] next = new int[n];
    int[] starts = new int[(1 << DIGIT) + 1];
    int mask = (1 << DIGIT) - 1;
    for (int digit = 0; digit < DIGITS; digit++) {
      int shift = digit * DIGIT;
      if (((same >>> shift) & mask) == mask || (same >>> shift) == -1L >>> shift) {
        continue;
      }
      Arrays.fill(starts, 0);
      for (long k : keys) {
        starts[(int) (k >>> shift & mask) + 1]++;
      }
      for (int d = 0; d < mask; d++) {
        starts[d + 1] += starts[d];
      }
      for (int i = 0; i < n; i++) {
        next[starts[(int) (keys[order[i]] >>> shift & mask)]++] = order[i];
      }
      int[] other = order;
      order = next;
      next = other;
    }
    return order;
  }

  /** Stable again, over few values. */
  private static int[] byFitness(int[] order, int[] fitness) {
    int least = Integer.MAX_VALUE;
    int most = Integer.MIN_VALUE;
    for (int i : order) {
      least = Math.min(least, fitness[i]);
      most = Math.max(most, fitness[i]);
    }
    if (least >= most) {
      return order;
    }
    int[] sorted = new int[order.length];
    int next = 0;
    for (int f = most; f >= least; f--) {
      for (int i : order) {
        if (fitness[i] == f) {
          sorted[next++] = i;
        }
      }
    }
    return sorted;
  }

  int size() {
    return order.length;
  }

  /** The place among those asked about. */
  int position(int rank) {
    return positions[order[rank]];
  }

  int fitness(int rank) {
    return fitness[order[rank]];
  }

  double score(int rank) {
    return scores[order[rank]];
  }
}
