package io.vgpu.e2e.faults;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code make soak-agent}: the fault matrix of the agent, row by row, on one cluster. */
@Command(
    name = "soak",
    description =
        "The agent's fault matrix on a real cluster: after each fault nothing is lost and a new pod"
            + " is admitted.",
    mixinStandardHelpOptions = true)
public final class SoakMain implements Callable<Integer> {
  @Option(
      names = "--only",
      description = "A regular expression: rows whose group and name it finds itself in.")
  private @Nullable String only;

  @Option(
      names = "--every",
      defaultValue = "1",
      description = "Kills before each n-th step of a pod's life (default: ${DEFAULT-VALUE}).")
  private int every;

  @Option(names = "--out", description = "Writes the table into this file as JSON.")
  private @Nullable Path out;

  @Override
  public Integer call() throws IOException {
    if (every < 1) {
      throw new UsageException("--every=" + every + ": must be at least 1");
    }
    Predicate<String> wanted = wanted();
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    List<FaultResult> results;
    try (Cluster cluster = Cluster.start(config, Progress.to(System.out))) {
      SoakRun run = new SoakRun(cluster, checkout, System.out);
      run.begin();
      run.play(PlainFaults.all(), wanted);
      run.play(CardFaults.all(), wanted);
      run.playSteps(wanted, every);
      results = run.results();
      run.end();
    }
    System.out.println();
    results.forEach(r -> System.out.println(r.line()));
    if (out != null) {
      write(out, results);
    }
    return !results.isEmpty() && results.stream().allMatch(FaultResult::pass) ? 0 : 1;
  }

  private Predicate<String> wanted() {
    if (only == null) {
      return name -> true;
    }
    try {
      return Pattern.compile(only).asPredicate();
    } catch (PatternSyntaxException e) {
      throw new UsageException("--only=" + only + ": " + e.getDescription());
    }
  }

  private static void write(Path file, List<FaultResult> results) throws IOException {
    ObjectNode root = JsonMapper.shared().createObjectNode();
    ArrayNode rows = root.putArray("faults");
    for (FaultResult r : results) {
      ObjectNode row = rows.addObject();
      row.put("group", r.fault().group()).put("name", r.fault().name()).put("pass", r.pass());
      row.put("pods", r.pods()).put("failed", r.failed()).put("replaced", r.replaced());
      row.put("seconds", Math.round(r.seconds() * 10) / 10.0);
      r.findings().forEach(row.putArray("findings")::add);
    }
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, root.toPrettyString() + "\n");
  }
}
