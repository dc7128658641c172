package io.vgpu.e2e.faults;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.vgpu.e2e.burst.Scene;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.FakeNode;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What a fault works with: the cluster, our parts, the pods of its row. Of one row. */
final class Stage {
  static final Duration LIMIT = Duration.ofSeconds(60);

  private final Cluster cluster;
  private final Product product;
  private final Checkout checkout;
  private final Scene scene;
  private final Standing standing;
  private final long seed;
  private int more;
  private boolean restarts;
  private boolean kubeletForgot;

  Stage(
      Cluster cluster,
      Product product,
      Checkout checkout,
      Scene scene,
      Standing standing,
      long seed) {
    this.cluster = cluster;
    this.product = product;
    this.checkout = checkout;
    this.scene = scene;
    this.standing = standing;
    this.seed = seed;
  }

  Cluster cluster() {
    return cluster;
  }

  Product product() {
    return product;
  }

  Scene scene() {
    return scene;
  }

  Standing standing() {
    return standing;
  }

  /** Makes so many pods; returns at once. */
  void pods(int number) {
    scene.play("pod", number, seed);
  }

  /**
   * Makes one more pod. kube-scheduler leaves pods aside that it tried while the node offered no
   * slot, for minutes; what happens to another pod makes it look at them again.
   */
  void newPod() {
    scene.play("new-" + ++more, 1, seed);
  }

  /** Waits until so many of the row's pods have begun. */
  void awaitBegun(int number) {
    Await.until(number + " pods to begin", LIMIT, () -> scene.begun() >= number);
  }

  void killAgent() {
    product.process(OurPart.AGENT).orElseThrow().kill9();
  }

  /** Starts the agent and waits until it serves. */
  void startAgent() {
    product.startPart(OurPart.AGENT);
    product.awaitReady(OurPart.AGENT);
    product.awaitCards();
  }

  /** The agent ends and starts anew with a Java agent that can end it at any step. */
  Path crashFolder() throws IOException {
    return Files.createDirectories(cluster.paths().runDir().resolve("crash"));
  }

  /** Later agents have crash points; {@link io.vgpu.e2e.faults.point.CrashPoint} says how. */
  void withCrashPoints() throws IOException {
    product.agentRunsWith(
        Map.of(
            "VGPU_JAVA_OPTS",
            "-javaagent:"
                + checkout.root().resolve("deploy/e2e/target/vgpu-e2e-0.1.0-SNAPSHOT.jar")
                + "="
                + crashFolder()),
        List.of());
    product.process(OurPart.AGENT).orElseThrow().stop();
    startAgent();
  }

  /** Later agents are as they ship. */
  void asShipped() {
    product.agentRunsWith(Map.of(), List.of());
    product.process(OurPart.AGENT).orElseThrow().stop();
    startAgent();
  }

  void killKubelet() {
    cluster.part(Part.KUBELET).kill9();
  }

  void startKubelet() {
    cluster.part(Part.KUBELET).start();
    cluster.awaitServing(Part.KUBELET);
    cluster.awaitNodeReady();
    if (product.process(OurPart.AGENT).orElseThrow().isAlive()) {
      product.awaitCards();
    }
  }

  /** The kubelet forgets who holds what; call it while the kubelet is dead. */
  void loseKubeletCheckpoint() throws IOException {
    Files.deleteIfExists(cluster.paths().devicePluginsDir().resolve("kubelet_internal_checkpoint"));
    scene.checkpointLost();
    kubeletForgot = true;
  }

  boolean kubeletForgot() {
    return kubeletForgot;
  }

  /** The standing containers are started anew by this fault, as by a reboot. */
  void restartsContainers() {
    restarts = true;
  }

  boolean containersRestarted() {
    return restarts;
  }

  /** A line for the fake driver, which all processes read while they run. */
  void driver(String line) throws IOException {
    Files.writeString(
        FakeNode.controlOf(cluster),
        line + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** Deletes the row's pods that have ended: what they held is given up then. */
  void forgetEnded() {
    pods().list().getItems().stream()
        .filter(p -> "Succeeded".equals(p.getStatus().getPhase()))
        .filter(p -> scene.settled())
        .forEach(p -> cluster.client().resource(p).withGracePeriod(0).delete());
  }

  /** The same, and returns when the agent has none of them in its notes. */
  void forgetPods() {
    Await.until(
        "the notes of pods that ended to go",
        LIMIT,
        () -> {
          forgetEnded();
          List<String> uids =
              pods().list().getItems().stream().map(p -> p.getMetadata().getUid()).toList();
          return uids.isEmpty()
              && Notes.read(product.managerDir().resolve("checkpoints/allocations.json")).stream()
                  .allMatch(n -> standing.owns(n.uid()));
        });
  }

  private NonNamespaceOperation<Pod, PodList, PodResource> pods() {
    return cluster.client().pods().inNamespace(scene.namespace());
  }

  /** Fills the file system below a folder to the last byte, and frees it when closed. */
  AutoCloseable full(Path folder) throws IOException {
    Path filler = folder.resolve("filler");
    byte[] chunk = new byte[1 << 16];
    for (int size = chunk.length; size > 0; size /= 16) {
      try (var out =
          Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        while (true) {
          out.write(chunk, 0, size);
        }
      } catch (IOException e) {
        scene.say("no room for " + size + " bytes more in " + folder + ": " + e.getMessage());
      }
    }
    return () -> Files.delete(filler);
  }

  /** Closes what {@link #full} opened. */
  static void free(AutoCloseable full) {
    try {
      full.close();
    } catch (Exception e) {
      throw new ClusterException("the disk stays full", e);
    }
  }

  void pause(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    Await.holdsWithin(time.plusSeconds(1), () -> System.nanoTime() >= end);
  }
}
