package io.vgpu.control.scheduler.policy;

import java.util.Comparator;

/** How nodes are ranked and cards are ordered. Pure, stateless; {@link Policies} lists them. */
public sealed interface AllocationPolicy permits Binpack, Spread, NoPreference {
  /** The word used in annotations, metrics and explanations. */
  String word();

  /** Whether {@link #score} tells nodes apart at all. */
  boolean ranksNodes();

  /**
   * How well the request goes to a node, 0 to 100, higher is better (control-plane.md 3.7); 0 where
   * it cannot fit.
   */
  double score(NodeLoad load, Weights weights);

  /** The order in which cards are taken (control-plane.md 3.10). */
  Comparator<CardRank> cardOrder();
}
