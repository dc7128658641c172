package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.control.cluster.Budget;
import io.vgpu.control.cluster.Budgets;
import io.vgpu.control.cluster.ClusterFeed;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.kube.SlimSource;
import io.vgpu.kube.SlimWatch;
import java.util.Optional;

/** Watches all nodes and pods of the cluster as slim records (control-plane.md 7.1, ours). */
public final class ClusterWatches implements AutoCloseable {
  private static final long NODES_A_PAGE = 100; // a node is about 24 KB on the wire, a pod 8
  private static final long PODS_A_PAGE = 300;

  private final SlimWatch<Node, NodeRecord> nodes;
  private final SlimWatch<Pod, PodRecord> pods;
  private final SlimWatch<HasMetadata, Budget> budgets;

  public ClusterWatches(KubernetesClient client, SlimRecords slim, ClusterFeed feed, Budgets seen) {
    this.nodes =
        new SlimWatch<>(
            "nodes",
            SlimSource.of(client.nodes(), NODES_A_PAGE),
            node -> Optional.of(slim.node(node)),
            feed.nodes());
    this.pods =
        new SlimWatch<>(
            "pods",
            SlimSource.of(client.pods().inAnyNamespace(), PODS_A_PAGE),
            pod -> Optional.of(slim.kept(pod)),
            feed.pods());
    this.budgets =
        new SlimWatch<>(
            "poddisruptionbudgets",
            new BudgetSource(client, PODS_A_PAGE),
            budget -> Optional.of(BudgetSource.read(budget)),
            seen);
  }

  /** Begins; the feed says when the first lists are in. */
  public void start() {
    nodes.start();
    pods.start();
    budgets.start();
  }

  @Override
  public void close() {
    nodes.close();
    pods.close();
    budgets.close();
  }
}
