package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Part;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Brings the node to the state in which the kubelet drops a request for our resource silently and
 * runs the pod without devices: no device plugin, no checkpoint, the resource absent from the
 * node's status (identity-facts.md 1, rule 2).
 */
final class WithoutPlugin {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** More than the kubelet's status period: what it still remembers, it has written by then. */
  private static final Duration STAYS_ABSENT = Duration.ofSeconds(3);

  private final Cluster cluster;
  private final String namespace;

  WithoutPlugin(Cluster cluster, String namespace) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  /** Makes the pods and returns their UIDs once all of them run. No part of ours may run yet. */
  List<String> run(List<PodPlan> plans) {
    cluster.kill9(Part.KUBELET);
    loseCheckpoint(cluster.paths().devicePluginsDir());
    removeFromStatus();
    cluster.part(Part.KUBELET).start();
    cluster.awaitServing(Part.KUBELET);
    cluster.awaitNodeReady();
    awaitAbsent();
    List<String> uids = new ArrayList<>();
    for (PodPlan plan : plans) {
      Pod pod = BurstPods.onNode(namespace, plan, cluster.config().nodeName());
      uids.add(cluster.client().resource(pod).create().getMetadata().getUid());
    }
    Await.until(
        "the pods without devices to run", LIMIT, () -> plans.stream().allMatch(this::runs));
    return uids;
  }

  static void loseCheckpoint(Path devicePlugins) {
    Path checkpoint = devicePlugins.resolve("kubelet_internal_checkpoint");
    try {
      Files.deleteIfExists(checkpoint);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove " + checkpoint, e);
    }
  }

  private boolean runs(PodPlan plan) {
    Pod pod = cluster.client().pods().inNamespace(namespace).withName(plan.name()).get();
    return pod != null && "Running".equals(pod.getStatus().getPhase());
  }

  private void awaitAbsent() {
    AtomicLong since = new AtomicLong(System.nanoTime());
    Await.until(
        "the resource to be absent from the node",
        LIMIT,
        () -> {
          if (isPresent()) {
            removeFromStatus();
            since.set(System.nanoTime());
          }
          return System.nanoTime() - since.get() > STAYS_ABSENT.toNanos();
        });
  }

  private boolean isPresent() {
    var status = cluster.node().getStatus();
    Map<String, Quantity> capacity = status.getCapacity();
    return capacity.containsKey(Names.DEFAULT.vgpuNumber())
        || status.getAllocatable().containsKey(Names.DEFAULT.vgpuNumber());
  }

  private void removeFromStatus() {
    String absent = "{\"%s\":null}".formatted(Names.DEFAULT.vgpuNumber());
    cluster
        .client()
        .nodes()
        .withName(cluster.config().nodeName())
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"status\":{\"capacity\":%1$s,\"allocatable\":%1$s}}".formatted(absent));
  }
}
