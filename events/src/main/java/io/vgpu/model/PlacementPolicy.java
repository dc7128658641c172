package io.vgpu.model;

import java.util.Locale;
import java.util.Optional;

/** Order of nodes and of cards (U42): busiest first, idlest first, or no preference. */
public enum PlacementPolicy {
  BINPACK,
  SPREAD,
  NONE;

  /**
   * Reads an annotation's value, case-insensitive and trimmed; blank is {@link #NONE}, an unknown
   * word is empty.
   */
  public static Optional<PlacementPolicy> parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "binpack" -> Optional.of(BINPACK);
      case "spread" -> Optional.of(SPREAD);
      case "none", "" -> Optional.of(NONE);
      default -> Optional.empty();
    };
  }

  /** The word used in annotations and metrics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
