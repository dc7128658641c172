package io.vgpu.model;

import java.util.Locale;

/** Argument checks of the model's records: the message names field, value and rule. */
public final class Checks {
  private Checks() {}

  /** Throws {@link IllegalArgumentException} with the formatted text when {@code ok} is false. */
  public static void check(boolean ok, String format, Object... args) {
    if (!ok) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, format, args));
    }
  }

  /** A programmer's error: the state that the caller relies on does not hold. */
  public static void checkState(boolean ok, String format, Object... args) {
    if (!ok) {
      throw new IllegalStateException(String.format(Locale.ROOT, format, args));
    }
  }
}
