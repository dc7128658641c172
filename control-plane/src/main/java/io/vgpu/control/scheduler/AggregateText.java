package io.vgpu.control.scheduler;

import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.model.Reason;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What a pod that fits nowhere is told in one event (control-plane.md 6.1). One thread. */
final class AggregateText {
  private static final int NAMES = 5;

  private final Map<Reason, Bucket> buckets = new EnumMap<>(Reason.class);

  /** How many, and the first few by name. */
  private static final class Bucket {
    private int size;
    private final TreeSet<String> first = new TreeSet<>();

    void add(String node) {
      size++;
      if (first.size() < NAMES || node.compareTo(first.last()) < 0) {
        first.add(node);
        if (first.size() > NAMES) {
          first.pollLast();
        }
      }
    }

    String names() {
      String shown = String.join(",", first);
      return size <= NAMES ? shown : shown + " and " + (size - NAMES) + " more";
    }
  }

  /** {@code 0/<N> nodes are available: <k> <phrase> (<names>), … .} */
  static String of(int candidates, Map<String, Refused> refusals) {
    AggregateText text = new AggregateText();
    refusals.forEach((node, r) -> text.add(node, r.reason()));
    return text.of(candidates);
  }

  /** Of all nodes that were asked about. */
  static String of(Judged judged) {
    AggregateText text = new AggregateText();
    for (int i = 0; i < judged.nodes(); i++) {
      Refused no = judged.refusal(i);
      if (no != null) {
        text.add(judged.asked().names().get(i), no.reason());
      }
    }
    return text.of(judged.nodes());
  }

  private void add(String node, Reason reason) {
    buckets.computeIfAbsent(reason, k -> new Bucket()).add(node);
  }

  private String of(int candidates) {
    String head = "0/" + candidates + " nodes are available";
    if (buckets.isEmpty()) {
      return head;
    }
    return buckets.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<Reason, Bucket>>comparingInt(e -> -e.getValue().size)
                .thenComparing(e -> e.getKey().code()))
        .map(e -> e.getValue().size + " " + e.getKey().phrase() + " (" + e.getValue().names() + ")")
        .collect(Collectors.joining(", ", head + ": ", "."));
  }
}
