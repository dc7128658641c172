package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import java.util.List;

/**
 * A real cluster turned into one of simulated nodes: its own node takes no pods, nobody misses the
 * others' heartbeats, and kube-scheduler is ours to start. One thread; {@link #close} gives it
 * back.
 */
final class Stage implements AutoCloseable {
  private final Cluster cluster;
  private final Product product;
  private final SimulatedNodes nodes;
  private final KubeScheduler scheduler;
  private final Wave wave;

  Stage(Cluster cluster, Checkout checkout, String namespace) {
    this.cluster = cluster;
    this.product = new Product(cluster, checkout);
    this.nodes = new SimulatedNodes(cluster.client());
    // its node lifecycle controller would find the nodes dead
    cluster.part(Part.CONTROLLER_MANAGER).stop();
    schedulable(false);
    this.scheduler = new KubeScheduler(cluster, checkout);
    this.wave = new Wave(cluster, scheduler, namespace);
  }

  SimulatedNodes nodes() {
    return nodes;
  }

  KubeScheduler scheduler() {
    return scheduler;
  }

  Wave wave() {
    return wave;
  }

  /** Whether the real node takes pods; its kubelet writes the same object every other second. */
  private void schedulable(boolean on) {
    cluster
        .client()
        .nodes()
        .withName(cluster.config().nodeName())
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"unschedulable\":%s}}".formatted(!on));
  }

  /** Starts the extender, or starts it anew, with the flags that are shipped and these. */
  void extender(String... flags) {
    product.process(OurPart.EXTENDER).ifPresent(ManagedProcess::stop);
    product.startExtender(ProductConfig.DEFAULT.withExtenderFlags(List.of(flags)));
  }

  MetricText metrics() {
    return new MetricText(product.metrics(OurPart.EXTENDER));
  }

  ProcessFigures extenderFigures() {
    return ProcessFigures.of(product.process(OurPart.EXTENDER).orElseThrow());
  }

  /** Pods and nodes go, the cluster's own parts come back. */
  @Override
  public void close() {
    scheduler.stop();
    wave.clear();
    nodes.remove();
    product.stop();
    schedulable(true);
    cluster.reviveParts();
  }
}
