package io.vgpu.control.cluster;

import java.util.Locale;
import java.util.Optional;

/** Which cards of a node belong together (control-plane.md 2.2). */
public enum TopologyMode {
  NONE,
  NUMA,
  NUMA_STRICT,
  LINK,
  LINK_STRICT;

  /** Reads the annotation, case-insensitive; blank is {@link #NONE}, an unknown word is empty. */
  public static Optional<TopologyMode> parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "", "none" -> Optional.of(NONE);
      case "numa" -> Optional.of(NUMA);
      case "numa-strict" -> Optional.of(NUMA_STRICT);
      case "link" -> Optional.of(LINK);
      case "link-strict" -> Optional.of(LINK_STRICT);
      default -> Optional.empty();
    };
  }

  /** The word used in annotations and metrics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
