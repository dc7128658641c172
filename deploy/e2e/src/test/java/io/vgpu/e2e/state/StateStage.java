package io.vgpu.e2e.state;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** One test's nodes, pods and processes on the real cluster; all gone when it is closed. */
final class StateStage implements AutoCloseable {
  private static final Duration SEEN = Duration.ofSeconds(20);

  private final Cluster cluster;
  private final String namespace;
  private final Product product;
  private final Path kubeconfig;
  private final StateNodes nodes;
  private final StatePods pods;
  private final Deque<Runnable> opened = new ArrayDeque<>();

  StateStage(Cluster cluster, String namespace) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.product = new Product(cluster, Checkout.find());
    this.kubeconfig = product.installAccount(OurPart.EXTENDER);
    this.nodes = new StateNodes(cluster.client());
    this.pods = new StatePods(cluster.client(), namespace);
  }

  StateNodes nodes() {
    return nodes;
  }

  StatePods pods() {
    return pods;
  }

  /** Makes so many pods alike, of one card each. */
  List<Pod> create(String prefix, int count, int cores, long memoryMiB) {
    List<Pod> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      made.add(pods.create(prefix + "-" + i, 1, cores, memoryMiB));
    }
    return made;
  }

  /** Starts an extender that finds the API server at {@code master}. */
  ExtenderProcess extender(String name, String master) {
    ExtenderProcess extender =
        new ExtenderProcess(
            Checkout.find().launcher("vgpu-control-plane"),
            kubeconfig,
            product.claimKey(),
            master,
            cluster.paths().log("state-" + name));
    opened.push(extender::close);
    return extender.start();
  }

  /** One that speaks with the API server itself. */
  ExtenderProcess extender(String name) {
    return extender(name, cluster.config().apiServerUrl());
  }

  /** A way to the API server that can be cut. */
  CutProxy proxy() {
    CutProxy proxy = new CutProxy(cluster.config().nodeIp(), 6443);
    opened.push(proxy::close);
    return proxy;
  }

  /** Begins to follow what is promised; call it when all nodes are there. */
  Promises promises() {
    try {
      Promises promises =
          new Promises(
              cluster.client(), namespace, nodes.cards(), Files.readString(product.claimKey()));
      opened.push(promises::close);
      return promises;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the claim key", e);
    }
  }

  /** Waits until the extender's filter fits the pod on so many of the nodes. */
  void awaitFits(SchedulerStandIn scheduler, Pod pod, int count) {
    Await.until(
        "the extender to fit " + pod.getMetadata().getName() + " on " + count + " nodes",
        SEEN,
        () -> {
          try {
            return scheduler.filter(pod, nodes.names()).fits().size() == count;
          } catch (IOException e) {
            throw new UncheckedIOException("the extender does not answer", e);
          }
        });
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      opened.pop().run();
    }
    pods.deleteAll();
    nodes.close();
    Await.until("the pods to go", SEEN, () -> pods.all().isEmpty());
  }
}
