package io.vgpu.control.scheduler;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which of the nodes that a pod fits on filter names to kube-scheduler. Immutable; any thread.
 *
 * @param positions of those named; null where all are
 * @param size how many those are
 * @param others what the others are told: who was named instead
 * @param next positions of some of the others, the nearest to be named first
 */
record Shortlist(@Nullable BitSet positions, int size, String others, List<Integer> next) {
  /** Of the others so many are remembered for explanations. */
  static final int REMEMBERED = 8;

  Shortlist {
    next = List.copyOf(next);
  }

  /** Everybody. */
  static Shortlist all(int fits) {
    return new Shortlist(null, fits, "", List.of());
  }

  /** Whether a node that fits is named. */
  boolean names(int position) {
    return positions == null || positions.get(position);
  }
}
