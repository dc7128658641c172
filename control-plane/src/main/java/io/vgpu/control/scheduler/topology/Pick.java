package io.vgpu.control.scheduler.topology;

import io.vgpu.model.Reason;
import java.util.List;

/** What a topology mode says of one container on one node. */
public sealed interface Pick {
  /**
   * These cards.
   *
   * @param cards positions, the container's reused ones first
   * @param result how close they are
   * @param fallback what was wished for and not found; empty when nothing was given up
   */
  record Picked(List<Integer> cards, Closeness result, String fallback, Alignment.Window window)
      implements Pick {
    public Picked {
      cards = List.copyOf(cards);
    }
  }

  /** A strict mode cannot be kept. */
  record Unsatisfied(Reason reason, String detail) implements Pick {}
}
