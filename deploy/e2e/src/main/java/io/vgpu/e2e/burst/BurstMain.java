package io.vgpu.e2e.burst;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import io.vgpu.runtime.UsageException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code make soak-burst}: a fresh cluster for each seed. */
@Command(
    name = "burst",
    description =
        "Bursts of a hundred pods while our parts and the kubelet are killed; every container must"
            + " have got exactly its claim.",
    mixinStandardHelpOptions = true)
public final class BurstMain implements Callable<Integer> {
  @Option(
      names = "--seeds",
      defaultValue = "1",
      description = "How many seeds, one after the other (default: ${DEFAULT-VALUE}).")
  private int seeds;

  @Option(names = "--seed", description = "The first seed; the next ones count up from it.")
  private @Nullable Long first;

  @Override
  public Integer call() {
    if (seeds < 1 || seeds > 10_000) {
      throw new UsageException("--seeds=" + seeds + ": must be 1 to 10000");
    }
    long seed = first == null ? Clock.systemUTC().millis() : first;
    List<BurstReport> reports = new ArrayList<>();
    for (int i = 0; i < seeds; i++) {
      reports.add(one(seed + i));
    }
    System.out.println();
    reports.forEach(r -> System.out.println(r.line()));
    return reports.stream().allMatch(BurstReport::pass) ? 0 : 1;
  }

  private static BurstReport one(long seed) {
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    try (Cluster cluster = Cluster.start(config, Progress.to(System.out))) {
      Product product = new Product(cluster, checkout);
      BurstReport report = new BurstRun(cluster, product, "burst", System.out).run(seed);
      report.print(System.out);
      if (!report.pass()) {
        Path folder = checkout.root().resolve("deploy/e2e/target/burst/seed-" + seed);
        report.keep(folder, cluster.paths().logs());
        System.out.println("everything about it is kept in " + folder);
      }
      // its webhook and guard would hinder the cluster's own clearing up
      product.stop();
      return report;
    }
  }
}
