package io.vgpu.runtime;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known name that a mistyped one was probably meant to be. Pure. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known name with the fewest edits (case ignored), if any is near enough to be a slip of the
   * hand.
   */
  public static Optional<String> of(String given, Collection<String> known) {
    return closest(given, known).filter(k -> distance(given, k) <= Math.max(2, given.length() / 2));
  }

  /** The known name with the fewest edits, however many. */
  public static Optional<String> closest(String given, Collection<String> known) {
    return known.stream()
        .min(
            Comparator.<String>comparingInt(k -> distance(given, k))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Levenshtein's distance, ignoring case. */
  static int distance(String first, String second) {
    String a = first.toLowerCase(Locale.ROOT);
    String b = second.toLowerCase(Locale.ROOT);
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(replaced, Math.min(previous[j], current[j - 1]) + 1);
      }
      previous = current;
    }
    return previous[b.length()];
  }
}
