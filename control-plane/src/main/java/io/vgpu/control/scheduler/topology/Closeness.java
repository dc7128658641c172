package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeLinks;

/** How close the cards of a container are, best first; a pod reports its worst container. */
public enum Closeness {
  /** No topology mode, or no topology on the node to speak of. */
  NVLINK("nvlink"),
  SWITCH("switch"),
  NUMA("numa"),
  ANY("any"),
  CROSS_NUMA("cross-numa"),
  SPANNED("spanned"),
  NONE("none");

  private final String word;

  Closeness(String word) {
    this.word = word;
  }

  /** The word used in metrics and explanations. */
  public String word() {
    return word;
  }

  static Closeness of(NodeLinks.Tier tier) {
    return switch (tier) {
      case NVLINK -> NVLINK;
      case SWITCH -> SWITCH;
      case NUMA -> NUMA;
      case ANY -> ANY;
    };
  }

  /** The one further down the list. */
  public Closeness worse(Closeness other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
