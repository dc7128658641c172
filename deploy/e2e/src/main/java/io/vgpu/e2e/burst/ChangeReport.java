package io.vgpu.e2e.burst;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * What one change of agents under a burst cost, and what it broke.
 *
 * @param gapMs how long the kubelet had no plugin, by its own log
 * @param ownGapMs the same as the new agent tells it; only it can, where it was prepared
 * @param admitted pods whose containers had begun when the change began
 * @param queued pods that were bound and not begun then: those that a gap can hit
 * @param failed pods that failed
 * @param replaced of them, those in whose place another one was made
 * @param load of the machine, over the last minute, at the end
 */
public record ChangeReport(
    Change change,
    long seed,
    int pods,
    double gapMs,
    Optional<Double> ownGapMs,
    int admitted,
    int queued,
    int failed,
    int replaced,
    double seconds,
    double load,
    List<String> findings,
    List<String> stories) {
  public ChangeReport {
    findings = List.copyOf(findings);
    stories = List.copyOf(stories);
  }

  public boolean pass() {
    return findings.isEmpty();
  }

  /** In one line. */
  public String line() {
    return String.format(
        Locale.ROOT,
        "%-30s seed %d: %s; no plugin for %.1f ms%s; %d pods begun, %d queued, %d failed, %d replaced; all %d at their end after %.0f s; load %.1f",
        change,
        seed,
        pass() ? "PASS" : "FAIL (" + findings.size() + " findings)",
        gapMs,
        ownGapMs.map(ms -> String.format(Locale.ROOT, " (its own word: %.1f)", ms)).orElse(""),
        admitted,
        queued,
        failed,
        replaced,
        pods,
        seconds,
        load);
  }

  void print(PrintStream out) {
    findings.forEach(f -> out.println("  ! " + f));
    stories.forEach(l -> out.println("    " + l));
    out.println(line());
  }

  void into(ObjectNode o) {
    o.put("change", change.word())
        .put("seed", seed)
        .put("pods", pods)
        .put("gap_ms", rounded(gapMs))
        .put("begun", admitted)
        .put("queued", queued)
        .put("failed", failed)
        .put("replaced", replaced)
        .put("seconds", rounded(seconds))
        .put("load", rounded(load))
        .put("findings", findings.size());
    ownGapMs.ifPresent(ms -> o.put("own_gap_ms", rounded(ms)));
  }

  private static double rounded(double value) {
    return Math.round(value * 10) / 10.0;
  }
}
