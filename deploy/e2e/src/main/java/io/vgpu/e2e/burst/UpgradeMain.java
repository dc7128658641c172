package io.vgpu.e2e.burst;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code make bench-upgrade}: one cluster, one burst after the other, the agent changed in each.
 */
@Command(
    name = "upgrade",
    description =
        "Bursts of a hundred pods in each of which the agent is changed; tells how long the kubelet"
            + " had no plugin and what that cost.",
    mixinStandardHelpOptions = true)
public final class UpgradeMain implements Callable<Integer> {
  @Option(
      names = "--change",
      split = ",",
      defaultValue = "upgrade,killed-beside,crash",
      description = "upgrade, killed-beside, crash (default: ${DEFAULT-VALUE}).")
  private List<String> changes = List.of();

  @Option(
      names = "--times",
      defaultValue = "1",
      description = "How often each (default: ${DEFAULT-VALUE}).")
  private int times;

  @Option(
      names = "--seed",
      defaultValue = "20251201",
      description = "The first seed; the next ones count up from it (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--out", description = "Writes the figures into this file as JSON.")
  private @Nullable Path out;

  @Override
  public Integer call() throws IOException {
    if (times < 1 || times > 1000) {
      throw new UsageException("--times=" + times + ": must be 1 to 1000");
    }
    List<Change> wanted = changes.stream().map(UpgradeMain::change).toList();
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    List<ChangeReport> reports = new ArrayList<>();
    try (Cluster cluster = Cluster.start(config, Progress.to(System.out))) {
      Product product = new Product(cluster, checkout);
      product.start(ProductConfig.DEFAULT);
      for (int i = 0; i < times; i++) {
        for (Change change : wanted) {
          String namespace = "upgrade-" + (reports.size() + 1);
          ChangeReport report =
              new ChangeRun(cluster, product, namespace, System.out).run(change, seed + i);
          report.print(System.out);
          reports.add(report);
        }
      }
      // its webhook and guard would hinder the cluster's own clearing up
      product.stop();
    }
    System.out.println();
    reports.forEach(r -> System.out.println(r.line()));
    if (out != null) {
      write(out, reports);
    }
    return reports.stream().allMatch(ChangeReport::pass) ? 0 : 1;
  }

  private static Change change(String word) {
    return Arrays.stream(Change.values())
        .filter(c -> c.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new UsageException(
                    "--change="
                        + word
                        + ": must be one of "
                        + Arrays.stream(Change.values())
                            .map(Change::word)
                            .collect(Collectors.joining(", "))));
  }

  private static void write(Path file, List<ChangeReport> reports) throws IOException {
    ObjectNode root = JsonMapper.shared().createObjectNode();
    reports.forEach(r -> r.into(root.withArrayProperty("changes").addObject()));
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, root.toPrettyString() + "\n");
  }
}
