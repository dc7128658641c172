package io.vgpu.e2e.scale;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The figures of a run: as JSON under a key of its own, and in lines for people. */
final class ScaleReport {
  static final String KEY = "endToEnd";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final ObjectNode root = JSON.createObjectNode();
  private final List<String> breaches = new ArrayList<>();

  ScaleReport(int nodes) {
    root.put("nodes", nodes).put("cpus", Runtime.getRuntime().availableProcessors());
  }

  List<String> breaches() {
    return List.copyOf(breaches);
  }

  void wave(
      String name, Wave.Result result, List<String> broken, MetricText before, MetricText after) {
    breaches.addAll(broken);
    result.boundTwice().forEach(p -> breaches.add(name + ": " + p + " was bound twice"));
    if (result.bound().size() != result.pods()) {
      breaches.add(name + ": " + result.bound().size() + " of " + result.pods() + " are bound");
    }
    ObjectNode o = root.withArrayProperty("waves").addObject();
    o.put("name", name)
        .put("pods", result.pods())
        .put("pods_per_second", rounded(result.perSecond()))
        .put("binding_409", result.conflicts())
        .put("load_before", result.loadBefore())
        .put("load_after", result.loadAfter());
    ObjectNode requests = o.putObject("requests");
    result.requests().forEach(requests::put);
    ObjectNode cpu = o.putObject("cpu_ms_per_pod");
    result.cpuMs().forEach((p, ms) -> cpu.put(p, rounded(ms / (double) result.pods())));
    ObjectNode verbs = o.putObject("extender_ms");
    for (String verb : List.of("filter", "prioritize", "steer", "bind")) {
      String labels =
          "stage=\"total\".*verb=\"" + verb + "\"|verb=\"" + verb + "\".*stage=\"total\"";
      double calls = delta(before, after, "vgpu_scheduler_verb_duration_seconds_count", labels);
      double seconds = delta(before, after, "vgpu_scheduler_verb_duration_seconds_sum", labels);
      if (calls > 0) {
        verbs.put(verb + "_mean", rounded(seconds * 1000 / calls)).put(verb + "_calls", calls);
      }
    }
    o.put("replans", delta(before, after, "vgpu_scheduler_bind_conflict_total", ""));
    o.put(
        "binds_not_done",
        delta(before, after, "vgpu_scheduler_verb_total", "verb=\"bind\"")
            - delta(
                before, after, "vgpu_scheduler_verb_total", "result=\"success\".*verb=\"bind\""));
  }

  private static double delta(MetricText before, MetricText after, String name, String labels) {
    return after.sum(name, labels) - before.sum(name, labels);
  }

  void extender(ProcessFigures figures) {
    root.put("extender_rss_mib", figures.rssMiB())
        .put("extender_peak_rss_mib", figures.peakRssMiB());
  }

  void onPlainNodes(String name, Wave.Result result, String prefix) {
    long there =
        result.bound().stream().filter(p -> p.getSpec().getNodeName().startsWith(prefix)).count();
    root.withObjectProperty("on_nodes_without_cards").put(name, there);
  }

  void dryRuns(int answers, int nodes) {
    root.putObject("dry_runs").put("answers", answers).put("nodes_each", nodes);
  }

  /** What is left of kube-scheduler's own speed, by the means of all waves of a name. */
  private void share(String ours, String alone) {
    if (perSecond(alone) > 0) {
      root.withObjectProperty("share_of_" + alone.replaceAll("[^a-z]+", "_"))
          .put(ours, rounded(perSecond(ours) / perSecond(alone)));
    }
  }

  private double perSecond(String name) {
    return root.withArrayProperty("waves")
        .valueStream()
        .filter(w -> w.path("name").asString().equals(name))
        .mapToDouble(w -> w.path("pods_per_second").asDouble())
        .average()
        .orElse(0);
  }

  /** Adds the figures to a file that may hold others. */
  void addTo(Path file) throws IOException {
    share("ours", "alone");
    share("ours, binpack", "alone");
    share("without cards, steered", "without cards");
    ObjectNode all =
        Files.exists(file)
            ? (ObjectNode) JSON.readTree(Files.readString(file))
            : JSON.createObjectNode();
    all.set(KEY, root);
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, all.toPrettyString() + "\n");
  }

  void print(PrintStream out) {
    out.println(root.toPrettyString());
    breaches.forEach(b -> out.println("BREACH " + b));
  }

  private static double rounded(double value) {
    return Double.parseDouble(String.format(Locale.ROOT, "%.2f", value));
  }
}
