package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The end-to-end part of {@code make bench-scheduler}: pods bound a second by the real
 * kube-scheduler with our extender, beside kube-scheduler alone in the same run.
 */
@Command(
    name = "bench-scheduler",
    description = "Binds pods to simulated nodes, with our extender and without.",
    mixinStandardHelpOptions = true)
public final class SchedulerScaleBench implements Callable<Integer> {
  private static final String NAMESPACE = "scale";
  private static final int LIFTED_QPS = 5_000;
  private static final int DEFAULT_QPS = SchedulerVariant.DEFAULT_QPS;
  private static final long SEED = 20_261_130;
  private static final SchedulerVariant ALONE = new SchedulerVariant(false, false, LIFTED_QPS);
  private static final SchedulerVariant OURS = new SchedulerVariant(true, false, LIFTED_QPS);
  private static final Map<String, String> BINPACK =
      Map.of(Names.DEFAULT.nodeSchedulerPolicy(), "binpack");

  @Option(
      names = "--nodes",
      defaultValue = "1000",
      description = "Nodes of 8 cards (${DEFAULT-VALUE}).")
  private int nodeCount = 1000;

  @Option(
      names = "--plain-nodes",
      defaultValue = "100",
      description = "Nodes without cards, for steering (${DEFAULT-VALUE}).")
  private int plainNodes = 100;

  @Option(
      names = "--pods",
      defaultValue = "1500",
      description = "Pods of each wave (${DEFAULT-VALUE}).")
  private int pods = 1500;

  @Option(
      names = "--repeat",
      defaultValue = "2",
      description = "How often kube-scheduler alone and with us alternate (${DEFAULT-VALUE}).")
  private int repeat = 2;

  @Option(
      names = "--only",
      split = ";",
      description = "Names of waves, separated by semicolons; the others are left out.")
  private List<String> only = List.of();

  @Option(names = "--out", required = true, description = "The file that the figures are added to.")
  private Path out = Path.of("");

  @Override
  public Integer call() throws IOException {
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    ScaleReport report = new ScaleReport(nodeCount);
    Progress progress = Progress.to(System.out);
    try (Cluster cluster = Cluster.start(config, progress)) {
      makeNamespace(cluster);
      try (Stage stage = new Stage(cluster, checkout, NAMESPACE)) {
        new Run(cluster, stage, progress, report).all();
      }
    }
    report.addTo(out);
    report.print(System.out);
    return report.breaches().isEmpty() ? 0 : 1;
  }

  private static void makeNamespace(Cluster cluster) {
    cluster
        .client()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .serverSideApply();
    Await.until(
        "the default service account",
        Duration.ofSeconds(30),
        () ->
            cluster.client().serviceAccounts().inNamespace(NAMESPACE).withName("default").get()
                != null);
  }

  /** One run on one cluster. */
  private final class Run {
    private final Cluster cluster;
    private final Stage stage;
    private final Progress progress;
    private final ScaleReport report;
    private int waves;

    Run(Cluster cluster, Stage stage, Progress progress, ScaleReport report) {
      this.cluster = cluster;
      this.stage = stage;
      this.progress = progress;
      this.report = report;
    }

    void all() {
      stage.nodes().addGpuNodes("sim", nodeCount);
      progress.step(nodeCount + " nodes made");
      stage.extender("--kube-api-qps=" + LIFTED_QPS, "--kube-api-burst=" + LIFTED_QPS);
      // the first hundreds of calls of a JVM are another measurement
      stage.wave().run(vgpu(Map.of()), OURS);
      stage.wave().clear();
      progress.step("warmed up");
      for (int i = 0; i < repeat; i++) {
        measure("alone", inTree(), ALONE);
        measure("ours", vgpu(Map.of()), OURS);
        measure("ours, binpack", vgpu(BINPACK), OURS);
      }
      besideDryRuns();
      atShippedLimits();
      steering();
    }

    /** Our flags as shipped, kube-scheduler at its own defaults; twice the pods, for the memory. */
    private void atShippedLimits() {
      stage.extender();
      measure("ours, shipped", vgpu(Map.of()), new SchedulerVariant(true, false, DEFAULT_QPS));
      measure("alone, default limits", inTree(), new SchedulerVariant(false, false, DEFAULT_QPS));
      measure(
          "ours, shipped, twice the pods", twice(), new SchedulerVariant(true, false, DEFAULT_QPS));
      report.extender(stage.extenderFigures());
    }

    /** A dry run over all nodes must not delay a live pod. */
    private void besideDryRuns() {
      DryRuns dryRuns = new DryRuns(cluster);
      List<Node> all = stage.nodes().list();
      Pod asked = vgpu(Map.of()).getFirst();
      asked.getMetadata().setUid("asked");
      dryRuns.question(asked, all);
      measure("ours, beside dry runs", vgpu(Map.of()), OURS, dryRuns::ask);
      report.dryRuns(dryRuns.answers(), all.size());
    }

    private void steering() {
      stage.nodes().addPlainNodes("plain", plainNodes);
      for (boolean steered : new boolean[] {false, true}) {
        String name = steered ? "without cards, steered" : "without cards";
        measure(
                name,
                SimulatedPods.withoutCards(NAMESPACE, "w" + waves++, pods),
                new SchedulerVariant(false, steered, LIFTED_QPS))
            .ifPresent(result -> report.onPlainNodes(name, result, "plain-"));
      }
    }

    private List<Pod> inTree() {
      return SimulatedPods.inTree(NAMESPACE, "w" + waves++, pods);
    }

    private List<Pod> vgpu(Map<String, String> annotations) {
      return SimulatedPods.vgpu(NAMESPACE, "w" + waves++, pods, annotations, SEED + waves);
    }

    private List<Pod> twice() {
      List<Pod> all = new ArrayList<>(vgpu(Map.of()));
      all.addAll(vgpu(Map.of()));
      return all;
    }

    private Optional<Wave.Result> measure(String name, List<Pod> wanted, SchedulerVariant variant) {
      return measure(name, wanted, variant, () -> {});
    }

    private Optional<Wave.Result> measure(
        String name, List<Pod> wanted, SchedulerVariant variant, Runnable beside) {
      if (!only.isEmpty() && !only.contains(name)) {
        return Optional.empty();
      }
      MetricText before = stage.metrics();
      Wave.Result result = stage.wave().run(wanted, variant, beside);
      report.wave(
          name,
          result,
          new Promises(stage.nodes()).breaches(result.bound()),
          before,
          stage.metrics());
      progress.step("%s: %.1f pods/s".formatted(name, result.perSecond()));
      stage.wave().clear();
      return Optional.of(result);
    }
  }
}
