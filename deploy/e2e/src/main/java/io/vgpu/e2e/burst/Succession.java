package io.vgpu.e2e.burst;

import io.vgpu.e2e.burst.Finding.Check;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whether each bare pod that failed was replaced exactly once, nobody was replaced who had not
 * failed, and no name was lost. Pure.
 */
final class Succession {
  private final PodHistory history;
  private final Set<String> withoutPlugin;
  private final Set<String> madeByPlan;
  private final Set<String> deletedByPlan;

  /**
   * @param withoutPlugin UIDs of the pods that ran without devices: they must be replaced though
   *     they did not fail, unless they came to a good end before anybody could
   * @param madeByPlan UIDs of the pods that the burst made
   * @param deletedByPlan UIDs of the pods that the burst force-deleted
   */
  Succession(
      PodHistory history,
      Set<String> withoutPlugin,
      Set<String> madeByPlan,
      Set<String> deletedByPlan) {
    this.history = history;
    this.withoutPlugin = Set.copyOf(withoutPlugin);
    this.madeByPlan = Set.copyOf(madeByPlan);
    this.deletedByPlan = Set.copyOf(deletedByPlan);
  }

  /** Every breach among the pods of these names. */
  List<Finding> check(List<String> bareNames) {
    List<Finding> findings = new ArrayList<>();
    for (String name : bareNames) {
      List<Incarnation> line = history.named(name);
      if (line.isEmpty()) {
        findings.add(Finding.of(Check.SUCCESSION, "bare pod " + name + " never existed"));
        continue;
      }
      successors(line, findings);
      replaced(line, findings);
      end(line.getLast(), findings);
    }
    return findings;
  }

  /** Each that names a predecessor: the predecessor was in trouble and has no other successor. */
  private void successors(List<Incarnation> line, List<Finding> findings) {
    Map<String, Incarnation> byPredecessor = new HashMap<>();
    for (Incarnation pod : line) {
      Optional<String> replaces = pod.last().replaces();
      if (replaces.isEmpty()) {
        if (!madeByPlan.contains(pod.uid())) {
          findings.add(about(pod, "made by nobody: the burst did not, and it replaces no pod"));
        }
        continue;
      }
      Incarnation other = byPredecessor.putIfAbsent(replaces.get(), pod);
      if (other != null) {
        findings.add(
            about(pod, "replaces " + replaces.get() + ", which " + other.uid() + " replaced"));
      }
      boolean known = line.stream().anyMatch(p -> p.uid().equals(replaces.get()));
      boolean reason =
          line.stream()
              .filter(p -> p.uid().equals(replaces.get()))
              .anyMatch(p -> p.troubled() || withoutPlugin.contains(p.uid()));
      if (!known) {
        findings.add(about(pod, "replaces " + replaces.get() + ", which never bore its name"));
      } else if (!reason) {
        findings.add(about(pod, "replaces " + replaces.get() + ", which had not failed"));
      }
    }
  }

  /** Each that failed has a successor, unless the burst itself ended its line. */
  private void replaced(List<Incarnation> line, List<Finding> findings) {
    for (int i = 0; i < line.size(); i++) {
      Incarnation pod = line.get(i);
      boolean must =
          pod.failedAtMs().isPresent() && !pod.brokenOff()
              || withoutPlugin.contains(pod.uid()) && !pod.succeeded();
      boolean superseded =
          deletedByPlan.contains(pod.uid())
              || (i + 1 < line.size() && madeByPlan.contains(line.get(i + 1).uid()));
      boolean has = line.stream().anyMatch(p -> p.last().replaces().equals(Optional.of(pod.uid())));
      if (must && !superseded && !has) {
        findings.add(about(pod, "failed and was not replaced"));
      }
    }
  }

  private void end(Incarnation last, List<Finding> findings) {
    if (last.succeeded() || last.brokenOff()) {
      return;
    }
    if (last.deletedAtMs().isPresent()) {
      findings.add(about(last, "gone before its end, and nobody has its name now: lost"));
    } else {
      findings.add(about(last, "did not come to its end: " + last.last().line()));
    }
  }

  private static Finding about(Incarnation pod, String text) {
    return Finding.about(Check.SUCCESSION, pod.uid(), pod.name() + " " + text);
  }
}
