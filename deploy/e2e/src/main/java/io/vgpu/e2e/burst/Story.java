package io.vgpu.e2e.burst;

import io.vgpu.e2e.product.OurPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tells everything that is known of one pod: for the reader of a failed burst. Pure. */
final class Story {
  private final PodHistory history;
  private final List<Print> prints;
  private final Map<OurPart, String> logs;

  /**
   * @param logs what each part of ours logged
   */
  Story(PodHistory history, List<Print> prints, Map<OurPart, String> logs) {
    this.history = history;
    this.prints = List.copyOf(prints);
    this.logs = Map.copyOf(logs);
  }

  /** The pod's events, claim, prints, the lines of our logs that name it, and its namesakes. */
  List<String> of(String uid) {
    List<String> lines = new ArrayList<>();
    history
        .byUid(uid)
        .ifPresent(
            pod -> {
              lines.add("pod " + pod.name() + " " + uid);
              lines.add("  asked for " + pod.last().demand().containers());
              lines.add("  wishes " + pod.last().annotations());
              pod.story().forEach(l -> lines.add("  " + l));
              history.named(pod.name()).stream()
                  .filter(other -> !other.uid().equals(uid))
                  .forEach(other -> namesake(other, lines));
            });
    for (Print print : prints) {
      if (print.uid().equals(uid)) {
        lines.add("  container " + print.container() + ", start " + print.run() + ", printed");
        print.text().lines().forEach(l -> lines.add("    | " + l));
      }
    }
    String name = history.byUid(uid).map(Incarnation::name).orElse(uid);
    logs.forEach(
        (part, log) ->
            log.lines()
                .filter(l -> l.contains(uid) || l.contains("/" + name))
                .forEach(l -> lines.add("  " + part.process() + ": " + l)));
    return lines;
  }

  private static void namesake(Incarnation other, List<String> lines) {
    lines.add(
        "  namesake "
            + other.uid()
            + other.last().replaces().map(r -> ", replaces " + r).orElse(""));
    other.story().forEach(l -> lines.add("    " + l));
  }
}
