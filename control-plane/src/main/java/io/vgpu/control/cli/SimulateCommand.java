package io.vgpu.control.cli;

import io.vgpu.claim.Names;
import io.vgpu.control.simulate.Chart;
import io.vgpu.control.simulate.Point;
import io.vgpu.control.simulate.PointTable;
import io.vgpu.control.simulate.SimFiles;
import io.vgpu.control.simulate.Simulation;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.UsageException;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code vgpu simulate}: how well policies would pack a workload on a cluster. */
@Command(
    name = "simulate",
    description =
        "replays a workload on an empty cluster, policy by policy, through the scheduler's own"
            + " allocator",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class SimulateCommand implements Callable<Integer> {
  /** How the result is written. */
  enum Format {
    TABLE,
    JSON,
    CSV
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--nodes",
      required = true,
      description = "the cluster: openb CSV, or YAML from kubectl get nodes -o yaml")
  private Path nodes = Path.of("");

  @Option(
      names = "--pods",
      required = true,
      description = "the workload: openb CSV, or YAML from kubectl get pods -A -o yaml")
  private Path pods = Path.of("");

  @Option(
      names = "--policy",
      required = true,
      split = ",",
      paramLabel = "POLICY",
      description = "one or more, by commas: random, bestfit, binpack, spread, fgd, foresight")
  private List<String> policies = List.of();

  @Option(
      names = "--seeds",
      defaultValue = "42",
      description = "orders of arrival: one seed, several by commas, or from-to")
  private String seeds = "42";

  @Option(
      names = "--inflate",
      defaultValue = "1.3",
      description = "how many times the cluster's cards are asked for in the end; 1: pods as given")
  private double inflate = 1.3;

  @Option(names = "--format", defaultValue = "table", description = "table, json or csv")
  private Format format = Format.TABLE;

  @Option(
      names = "--domain",
      defaultValue = Names.DEFAULT_DOMAIN,
      description = "prefix of our resources and annotations in YAML")
  private String domain = Names.DEFAULT_DOMAIN;

  @Option(names = "--chart", description = "SVG file: allocated and fragmented, by what arrived")
  private @Nullable Path chart;

  @Override
  public Integer call() {
    Logging.configure(0);
    List<Long> wanted = Seeds.parse(seeds);
    if (!(inflate > 0 && inflate <= 100)) {
      throw new UsageException("--inflate " + inflate + ": must be above 0 and at most 100");
    }
    List<String> words = policies.stream().map(Simulation::known).toList();
    Simulation simulation = new Simulation(SimFiles.read(nodes, pods, names()), inflate);
    PrintWriter out = spec.commandLine().getOut();
    ProgressBar bar = new ProgressBar(spec.commandLine().getErr(), onTerminal());
    List<Point> points = new ArrayList<>();
    for (String policy : words) {
      for (long seed : wanted) {
        int all = simulation.arrivals(seed);
        points.addAll(
            simulation.run(policy, seed, n -> bar.show(policy + ", seed " + seed, n, all)));
      }
    }
    bar.clear();
    out.print(
        switch (format) {
          case TABLE -> PointTable.table(points);
          case JSON -> PointTable.json(points);
          case CSV -> PointTable.csv(points);
        });
    out.flush();
    Path file = chart;
    if (file != null) {
      write(file, Chart.svg(points));
    }
    return 0;
  }

  private Names names() {
    try {
      return new Names(domain);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--domain: " + e.getMessage());
    }
  }

  private static boolean onTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UsageException("--chart " + file + ": cannot be written: " + e);
    }
  }
}
