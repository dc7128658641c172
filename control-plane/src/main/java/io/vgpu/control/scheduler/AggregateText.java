package io.vgpu.control.scheduler;

import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What a pod that fits nowhere is told in one event (control-plane.md 6.1). Pure. */
final class AggregateText {
  private static final int NAMES = 5;

  private AggregateText() {}

  /** {@code 0/<N> nodes are available: <k> <phrase> (<names>), … .} */
  static String of(int candidates, Map<String, Refused> refusals) {
    String head = "0/" + candidates + " nodes are available";
    if (refusals.isEmpty()) {
      return head;
    }
    Map<Reason, List<String>> buckets = new EnumMap<>(Reason.class);
    refusals.forEach(
        (node, r) -> buckets.computeIfAbsent(r.reason(), k -> new ArrayList<>()).add(node));
    return buckets.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<Reason, List<String>>>comparingInt(e -> -e.getValue().size())
                .thenComparing(e -> e.getKey().code()))
        .map(
            e -> e.getValue().size() + " " + e.getKey().phrase() + " (" + names(e.getValue()) + ")")
        .collect(Collectors.joining(", ", head + ": ", "."));
  }

  private static String names(List<String> nodes) {
    String shown = nodes.stream().sorted().limit(NAMES).collect(Collectors.joining(","));
    return nodes.size() <= NAMES ? shown : shown + " and " + (nodes.size() - NAMES) + " more";
  }
}
