package io.vgpu.claim;

/**
 * A text that is not in its format; the message names field, value and rule, and is meant for
 * users.
 */
public final class FormatException extends IllegalArgumentException {
  public FormatException(String message) {
    super(message);
  }

  public FormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
