package io.vgpu.e2e.faults;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.e2e.burst.Scene;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Faults, one after the other, on a cluster of its own. After each: the standing pods have not
 * noticed, each of the row's pods ended with its claim or was replaced once, all who know of
 * allocations agree, and a new pod is admitted.
 */
final class SoakRun {
  private static final Duration SETTLES = Duration.ofMinutes(3);
  private static final Duration AGREES = Duration.ofSeconds(40);

  /** A small file system of their own, which can be filled. */
  private static final String NOTES_DISK = "mode=0755,size=8m";

  private final Cluster cluster;
  private final Checkout checkout;
  private final PrintStream out;
  private final Product product;
  private final Standing standing;
  private final List<FaultResult> results = new ArrayList<>();

  SoakRun(Cluster cluster, Checkout checkout, PrintStream out) {
    this.cluster = cluster;
    this.checkout = checkout;
    this.out = out;
    this.product = new Product(cluster, checkout);
    this.standing = new Standing(cluster);
  }

  /** Starts our parts and the standing pods. */
  void begin() throws IOException {
    Path notes = Files.createDirectories(product.managerDir());
    cluster.inNetns(List.of("mount", "-t", "tmpfs", "-o", NOTES_DISK, "tmpfs", notes.toString()));
    product.start(
        ProductConfig.DEFAULT.withAgentFlags(
            "--health-grace=1s", "--health-quiet=2s", "--health-probe=0s"));
    standing.begin();
  }

  /** Ends what {@link #begin} began. */
  void end() {
    standing.deleteAll();
    product.stop();
    cluster.inNetns(List.of("umount", "-l", product.managerDir().toString()));
  }

  List<FaultResult> results() {
    return List.copyOf(results);
  }

  /** Plays those that are wanted. */
  void play(List<Fault> faults, Predicate<String> wanted) {
    faults.stream().filter(f -> wanted.test(f.group() + " " + f.name())).forEach(this::row);
  }

  /** Every {@code every}-th step of a pod's life. */
  void playSteps(Predicate<String> wanted, int every) throws IOException {
    if (!wanted.test("agent killed before step")) {
      return;
    }
    List<String> steps = new ArrayList<>();
    row(
        new Fault(
            "agent",
            "watched: the steps of one pod's life",
            stage -> {
              stage.withCrashPoints();
              steps.addAll(CrashSteps.watch(stage));
            }));
    out.println(steps.size() + " steps:");
    steps.forEach(s -> out.println("  " + s));
    for (int i = 0; i < steps.size(); i += every) {
      Fault fault = CrashSteps.fault(i + 1, steps.get(i));
      if (wanted.test(fault.group() + " " + fault.name())) {
        row(fault);
      }
    }
    row(new Fault("agent", "as it ships again", Stage::asShipped));
  }

  private void row(Fault fault) {
    out.println("--- " + fault.group() + ": " + fault.name());
    int number = results.size() + 1;
    try (Scene scene = new Scene(cluster, product, "fault-" + number, out)) {
      Stage stage = new Stage(cluster, product, checkout, scene, standing, number);
      List<String> findings = new ArrayList<>();
      try {
        fault.strikes().on(stage);
      } catch (IOException | ClusterException | KubernetesClientException e) {
        findings.add("not played to its end: " + e);
      }
      stage.newPod();
      if (!scene.awaitSettled(SETTLES)) {
        findings.add("pods did not come to their end");
      }
      int failed = scene.failed();
      scene.play("after", 1, number);
      if (!scene.awaitSettled(SETTLES) || scene.failed() > failed) {
        findings.add("a new pod was not admitted at once");
      }
      findings.addAll(scene.judge());
      if (!stage.containersRestarted()) {
        findings.addAll(standing.changed());
      }
      findings.addAll(standing.differences());
      Agreement agreement = new Agreement(cluster, product);
      if (!Await.holdsWithin(
          AGREES, () -> agreement.differences(0, stage.kubeletForgot()).isEmpty())) {
        findings.addAll(agreement.differences(0, stage.kubeletForgot()));
      }
      FaultResult result =
          new FaultResult(
              fault, scene.pods(), scene.failed(), scene.replaced(), scene.seconds(), findings);
      results.add(result);
      findings.forEach(f -> out.println("  ! " + f));
      scene.stories().forEach(l -> out.println("    " + l));
      out.println(result.line());
      if (stage.kubeletForgot()) {
        standing.begin(); // the kubelet does not know theirs any more
      }
    }
    cluster.client().namespaces().withName("fault-" + number).delete();
  }
}
