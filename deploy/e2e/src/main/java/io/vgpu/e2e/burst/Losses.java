package io.vgpu.e2e.burst;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Counts who failed, after which kill and why, and who was replaced. Pure. */
final class Losses {
  /** A failure later than this is not put down to a kill. */
  private static final long AFTER_MS = 10_000;

  private Losses() {}

  private static final class Count {
    private int failed;
    private int bare;
    private int replaced;
  }

  /** One line per kind of kill, one per reason. */
  static List<String> lines(PodHistory history, List<Killer.Killing> killings) {
    Map<String, Count> byKill = new TreeMap<>();
    Map<String, Integer> reasons = new TreeMap<>();
    killings.forEach(k -> byKill.computeIfAbsent(k.kind(), x -> new Count()));
    for (Incarnation pod : history.all()) {
      if (pod.failedAtMs().isEmpty()) {
        continue;
      }
      Count count =
          byKill.computeIfAbsent(
              cause(pod.failedAtMs().get(), killings).orElse("no kill before"), x -> new Count());
      count.failed++;
      if (pod.last().job().isEmpty()) {
        count.bare++;
        count.replaced +=
            history.named(pod.name()).stream()
                    .anyMatch(p -> p.last().replaces().equals(Optional.of(pod.uid())))
                ? 1
                : 0;
      }
      reasons.merge(reason(pod.last().reason()), 1, Integer::sum);
    }
    Map<String, Long> kills =
        killings.stream()
            .collect(Collectors.groupingBy(Killer.Killing::kind, Collectors.counting()));
    List<String> lines = new ArrayList<>();
    byKill.forEach(
        (kind, c) ->
            lines.add(
                String.format(
                    Locale.ROOT,
                    "%-20s %d kills, %d pods failed within %d s, of them %d bare, %d of those replaced by us",
                    kind,
                    kills.getOrDefault(kind, 0L),
                    c.failed,
                    AFTER_MS / 1000,
                    c.bare,
                    c.replaced)));
    reasons.forEach((reason, n) -> lines.add(n + " × " + reason));
    return lines;
  }

  private static Optional<String> cause(long failedAtMs, List<Killer.Killing> killings) {
    return killings.stream()
        .filter(k -> k.atMs() <= failedAtMs && failedAtMs - k.atMs() <= AFTER_MS)
        .reduce((a, b) -> b)
        .map(Killer.Killing::kind);
  }

  /** The reason without what differs from pod to pod. */
  private static String reason(String text) {
    String same = text.replaceAll("\\d+", "#").replaceAll("\\S*(burst|bare|job|early)-\\S*", "…");
    return same.isEmpty() ? "(no reason given)" : same.substring(0, Math.min(200, same.length()));
  }
}
