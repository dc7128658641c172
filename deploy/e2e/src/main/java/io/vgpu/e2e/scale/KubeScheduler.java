package io.vgpu.e2e.scale;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.Checkout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The real kube-scheduler in the place of the cluster's own, with the configuration that is
 * shipped. Started and stopped as often as one likes; one thread at a time.
 */
public final class KubeScheduler {
  /** Who the API server sees. */
  public static final String USER = "system:kube-scheduler";

  private static final String PROCESS = "kube-scheduler-shipped";

  private final Cluster cluster;
  private final Checkout checkout;

  /** Ends the cluster's own; {@link Cluster#reviveParts} brings it back. */
  public KubeScheduler(Cluster cluster, Checkout checkout) {
    this.cluster = cluster;
    this.checkout = checkout;
    cluster.part(Part.SCHEDULER).stop();
  }

  /** Starts it; pods are bound some hundred milliseconds later. */
  public ManagedProcess start(SchedulerVariant variant) {
    Path kubeconfig = cluster.paths().kubeconfig("scheduler");
    Path config = cluster.paths().runDir().resolve("kube-scheduler-shipped.yaml");
    try {
      Files.writeString(config, variant.render(checkout, kubeconfig));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + config, e);
    }
    return cluster.startProcess(
        PROCESS,
        List.of(
            cluster.config().binaries().resolve(Part.SCHEDULER.binary()).toString(),
            "--config=" + config,
            "--authentication-kubeconfig=" + kubeconfig,
            "--authorization-kubeconfig=" + kubeconfig),
        Map.of());
  }

  public void stop() {
    cluster.process(PROCESS).ifPresent(ManagedProcess::stop);
  }
}
