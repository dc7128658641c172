package io.vgpu.control.kube;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Budgets;
import io.vgpu.control.cluster.ClusterFeed;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.TokenBucket;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Everything of the extender that talks with the API server, over one client, so that the packages
 * which decide need not know it.
 */
public final class ApiAccess implements AutoCloseable {
  private final KubeClient client;
  private final SlimRecords slim;

  /** {@code requestTimeout} bounds each request; {@code topology}: links are looked at. */
  public ApiAccess(
      @Nullable Path kubeconfig,
      @Nullable String master,
      Duration requestTimeout,
      Names names,
      boolean topology) {
    this.client = KubeClient.open(kubeconfig, master, requestTimeout);
    this.slim = new SlimRecords(names, topology);
  }

  /** The commit call; {@code qps} and {@code burst} as D20. */
  public BindingApi bindings(double qps, int burst, LongSupplier nanoTime) {
    return new BindingPoster(client.get(), slim, new TokenBucket(qps, burst, nanoTime));
  }

  /** The watches, not yet started. */
  public ClusterWatches watches(ClusterFeed feed, Budgets budgets) {
    return new ClusterWatches(client.get(), slim, feed, budgets);
  }

  /** Kubernetes events, in a bucket of their own. */
  public KubeEvents events(
      String component,
      double qps,
      int burst,
      LongSupplier nanoTime,
      Clock clock,
      MeterRegistry meters) {
    return new KubeEvents(
        client.get(), component, new TokenBucket(qps, burst, nanoTime), clock, meters);
  }

  @Override
  public void close() {
    client.close();
  }
}
