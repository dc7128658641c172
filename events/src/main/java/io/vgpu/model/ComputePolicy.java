package io.vgpu.model;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a core limit is meant (U44): never above it, above it while the card idles, or no limit. */
public enum ComputePolicy {
  FIXED,
  BALANCE,
  NONE;

  /**
   * A non-blank pod value wins over the node's; unknown or blank is {@link #FIXED} (node-agent.md
   * 1.2).
   */
  public static ComputePolicy of(@Nullable String podValue, @Nullable String nodeValue) {
    String value =
        podValue != null && !podValue.isBlank() ? podValue : nodeValue == null ? "" : nodeValue;
    return switch (value.strip().toLowerCase(Locale.ROOT)) {
      case "balance" -> BALANCE;
      case "none" -> NONE;
      default -> FIXED;
    };
  }
}
