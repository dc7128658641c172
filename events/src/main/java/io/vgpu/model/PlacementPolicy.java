package io.vgpu.model;

import java.util.Locale;
import java.util.Optional;

/**
 * Order of nodes and of cards (U42): busiest first, idlest first, by what is left for pods to come,
 * or no preference.
 */
public enum PlacementPolicy {
  BINPACK,
  SPREAD,
  FGD,
  FORESIGHT,
  NONE;

  /**
   * Reads an annotation's value, case-insensitive and trimmed; blank is {@link #NONE}, an unknown
   * word is empty.
   */
  public static Optional<PlacementPolicy> parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "binpack" -> Optional.of(BINPACK);
      case "spread" -> Optional.of(SPREAD);
      case "fgd" -> Optional.of(FGD);
      case "foresight" -> Optional.of(FORESIGHT);
      case "none", "" -> Optional.of(NONE);
      default -> Optional.empty();
    };
  }

  /** Whether it judges a node and its card in one, by what is left for pods to come. */
  public boolean looksAhead() {
    return switch (this) {
      case FGD, FORESIGHT -> true;
      case BINPACK, SPREAD, NONE -> false;
    };
  }

  /** The word used in annotations and metrics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
