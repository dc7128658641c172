package io.vgpu.e2e.demo;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import io.vgpu.runtime.UsageException;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code make demo}. */
@Command(
    name = "demo",
    description = "Starts a real cluster and shows three pods' way to their vGPUs.",
    mixinStandardHelpOptions = true)
public final class DemoMain implements Callable<Integer> {
  @Option(names = "--keep", description = "Leaves cluster, parts and pods running.")
  private boolean keep;

  @Option(
      names = "--break",
      description = "Breaks one step on purpose; the demo must then fail with this word.")
  private @Nullable String breakWord;

  @Override
  public Integer call() {
    Optional<Break> broken =
        Optional.ofNullable(breakWord)
            .map(
                w ->
                    Break.of(w)
                        .orElseThrow(
                            () ->
                                new UsageException(
                                    "BREAK=" + w + ": must be one of " + Break.words())));
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    Progress progress = Progress.to(System.out);
    Cluster cluster =
        keep ? Cluster.startDetached(config, progress) : Cluster.start(config, progress);
    Demo.Outcome outcome;
    try {
      outcome = new Demo(cluster, new Product(cluster, checkout), System.out).run(broken);
      if (keep) {
        look(cluster);
        cluster.client().close();
      }
    } finally {
      if (!keep) {
        cluster.close();
      }
    }
    System.out.println();
    System.out.println(outcome.line());
    return outcome.pass() ? 0 : 1;
  }

  private static void look(Cluster cluster) {
    System.out.println();
    System.out.println("left running; look around with");
    System.out.println(
        "  "
            + cluster.config().binaries().resolve("kubectl")
            + " --kubeconfig "
            + cluster.paths().adminKubeconfig()
            + " -n demo get pods -o wide");
    for (OurPart part : OurPart.values()) {
      String scheme = part == OurPart.WEBHOOK ? "https" : "http";
      System.out.println(
          "  "
              + scheme
              + "://"
              + cluster.config().nodeIp()
              + ":"
              + part.opsPort()
              + (part == OurPart.WEBHOOK ? "/readyz" : "/metrics")
              + "  "
              + part.process());
    }
    System.out.println("  logs in " + cluster.paths().logs());
    System.out.println("end it with: make cluster-stop");
  }
}
