package io.vgpu.e2e.product;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code make bench}: how long pods take, one after the other, from create to bound to running on
 * the real cluster.
 */
@Command(
    name = "bench",
    description = "Times the way of pods, one after the other.",
    mixinStandardHelpOptions = true)
public final class PodWayBench implements Callable<Integer> {
  private static final String NAMESPACE = "bench";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Option(names = "--pods", defaultValue = "20", description = "How many pods are timed.")
  private int pods = 20;

  @Option(names = "--out", required = true, description = "The file of the figures.")
  private Path out = Path.of("");

  /** Milliseconds since the pod was created. */
  private record Times(long boundMs, long runningMs) {}

  @Override
  public Integer call() throws IOException {
    Checkout checkout = Checkout.find();
    ClusterConfig config =
        ClusterConfig.defaults(ClusterBinaries.locate()).withExampleFiles(checkout.exampleFiles());
    List<Times> times = new ArrayList<>();
    try (Cluster cluster = Cluster.start(config, Progress.to(System.out))) {
      Product product = new Product(cluster, checkout);
      product.start(ProductConfig.DEFAULT);
      cluster
          .client()
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
          .serverSideApply();
      time(cluster.client(), "warm-up");
      for (int i = 0; i < pods; i++) {
        times.add(time(cluster.client(), "pod-" + i));
      }
    }
    report(times);
    return 0;
  }

  private static Times time(KubernetesClient client, String name) {
    Pod pod =
        VgpuPods.pod(
            NAMESPACE,
            name,
            Map.of(),
            List.of(VgpuPods.container("main", VgpuPods.limits(1, 1, 64), "exec sleep 600")));
    long began = System.nanoTime();
    client.resource(pod).create();
    Await.until(
        name + " to be bound", LIMIT, () -> get(client, name).getSpec().getNodeName() != null);
    long bound = System.nanoTime();
    Await.until(
        name + " to run", LIMIT, () -> "Running".equals(get(client, name).getStatus().getPhase()));
    long running = System.nanoTime();
    client.pods().inNamespace(NAMESPACE).withName(name).withGracePeriod(0).delete();
    return new Times((bound - began) / 1_000_000, (running - began) / 1_000_000);
  }

  private static Pod get(KubernetesClient client, String name) {
    return client.pods().inNamespace(NAMESPACE).withName(name).get();
  }

  private void report(List<Times> times) throws IOException {
    List<Long> bound = times.stream().map(Times::boundMs).sorted().toList();
    List<Long> running = times.stream().map(Times::runningMs).sorted().toList();
    String json =
        """
        {"pods": %d, "bound_ms": {"median": %d, "max": %d}, "running_ms": {"median": %d, "max": %d}}
        """
            .formatted(
                times.size(),
                bound.get(bound.size() / 2),
                bound.getLast(),
                running.get(running.size() / 2),
                running.getLast());
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(out, json);
    System.out.printf(Locale.ROOT, "%s  (create to bound, create to running)%n", json.strip());
  }
}
