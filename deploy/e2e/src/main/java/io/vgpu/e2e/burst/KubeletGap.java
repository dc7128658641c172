package io.vgpu.e2e.burst;

import java.time.Duration;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A time in which a resource had no plugin, as the kubelet itself tells it in its log (verbosity
 * 2): from the moment at which it marked all devices unhealthy, because the plugin's stream had
 * ended, to the first list of the next one with a healthy device. In between every pod that asks
 * for the resource is rejected. Pure.
 */
record KubeletGap(LocalTime from, Duration length) {
  private static final String AWAY = "\"Mark all resources Unhealthy for resource\"";
  private static final String BACK = "\"Processed device updates for resource\"";
  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS");
  private static final int CLOCK_AT = 6; // behind the level, month and day: I1201
  private static final int CLOCK_CHARS = 15;

  /** Those that ended, in order; the log may begin anywhere. */
  static List<KubeletGap> of(String log, String resource) {
    List<KubeletGap> gaps = new ArrayList<>();
    Optional<LocalTime> since = Optional.empty();
    for (String line : log.lines().toList()) {
      if (!line.contains("resourceName=\"" + resource + "\"")) {
        continue;
      }
      if (line.contains(AWAY) && since.isEmpty()) {
        since = clock(line);
      } else if (line.contains(BACK) && !line.contains("healthyCount=0") && since.isPresent()) {
        LocalTime from = since.get();
        clock(line).ifPresent(to -> gaps.add(new KubeletGap(from, between(from, to))));
        since = Optional.empty();
      }
    }
    return gaps;
  }

  /** Lines have no date: an earlier time is the next day's. */
  private static Duration between(LocalTime from, LocalTime to) {
    Duration d = Duration.between(from, to);
    return d.isNegative() ? d.plusDays(1) : d;
  }

  private static Optional<LocalTime> clock(String line) {
    try {
      return line.length() < CLOCK_AT + CLOCK_CHARS
          ? Optional.empty()
          : Optional.of(LocalTime.parse(line.substring(CLOCK_AT, CLOCK_AT + CLOCK_CHARS), CLOCK));
    } catch (DateTimeParseException e) {
      return Optional.empty(); // no line of its own kind
    }
  }

  double ms() {
    return length.toNanos() / 1e6;
  }
}
