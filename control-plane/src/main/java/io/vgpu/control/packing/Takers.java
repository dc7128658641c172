package io.vgpu.control.packing;

import java.util.Arrays;

/**
 * How many cards of one model each typical kind of pod wants, by how much CPU a node has left: the
 * kinds that a model or a lack of CPU keeps out want more than there are. Immutable; any thread.
 */
final class Takers {
  /** More cards than any node has. */
  private static final int NEVER = Integer.MAX_VALUE;

  /** Milli-CPU from which another kind of pod would run, rising. */
  private final int[] steps;

  private final int[][] wanted;

  /** {@code onModel}: which kinds the model suits, by their places in {@link TypicalPods}. */
  Takers(Fragments fragments, boolean[] onModel) {
    steps = Arrays.stream(fragments.cpu).filter(cpu -> cpu > 0).sorted().distinct().toArray();
    wanted = new int[steps.length + 1][fragments.size];
    for (int step = 0; step < wanted.length; step++) {
      int cpu = step == 0 ? 0 : steps[step - 1];
      for (int i = 0; i < fragments.size; i++) {
        wanted[step][i] = fragments.runs(i, cpu, onModel) ? fragments.count[i] : NEVER;
      }
    }
  }

  /**
   * By the places of kinds in {@link Fragments}; the same object for all amounts of CPU that let
   * the same kinds run. Not to be changed.
   */
  int[] at(int cpu) {
    int from = 0;
    int to = steps.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (steps[middle] <= cpu) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return wanted[from];
  }
}
