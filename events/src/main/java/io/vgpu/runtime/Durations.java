package io.vgpu.runtime;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as users of Kubernetes write them: {@code 300ms}, {@code 5s}, {@code 1h30m}, {@code 0}.
 * Pure.
 */
public final class Durations {
  private static final Pattern WHOLE = Pattern.compile("([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+");
  private static final Pattern PART = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(ns|us|µs|ms|s|m|h)");
  private static final int MAX_LENGTH = 40;

  private Durations() {}

  /** Reads a duration; throws {@link UsageException} that names the text and the rule. */
  public static Duration parse(String text) {
    String value = text.strip();
    if (value.equals("0")) {
      return Duration.ZERO;
    }
    if (value.length() > MAX_LENGTH || !WHOLE.matcher(value).matches()) {
      throw new UsageException(
          "duration \"" + text + "\": must be numbers with units, such as 300ms, 5s or 1h30m");
    }
    double nanos = 0;
    Matcher part = PART.matcher(value);
    while (part.find()) {
      nanos += Double.parseDouble(part.group(1)) * nanosOf(part.group(2));
    }
    return Duration.ofNanos((long) Math.min(nanos, Long.MAX_VALUE));
  }

  private static double nanosOf(String unit) {
    return switch (unit) {
      case "ns" -> 1;
      case "us", "µs" -> 1e3;
      case "ms" -> 1e6;
      case "s" -> 1e9;
      case "m" -> 60e9;
      default -> 3600e9;
    };
  }
}
