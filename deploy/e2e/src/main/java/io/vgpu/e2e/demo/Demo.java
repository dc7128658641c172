package io.vgpu.e2e.demo;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.cluster.ProcessId;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import io.vgpu.model.PodClaim;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the demo on a cluster: our parts, three pods, every step shown and checked. One run at a
 * time.
 */
public final class Demo {
  private static final String NAMESPACE = "demo";

  private final Cluster cluster;
  private final Product product;
  private final Narrator say;

  public Demo(Cluster cluster, Product product, PrintStream out) {
    this.cluster = cluster;
    this.product = product;
    this.say = new Narrator(out);
  }

  /**
   * Whether it passed, and the closing line {@code demo: PASS} or {@code demo: FAIL <step>:
   * <reason>}.
   */
  public record Outcome(boolean pass, String line) {}

  /**
   * Runs from starting our parts to the last check. With a break the outcome must be FAIL with its
   * word.
   */
  public Outcome run(Optional<Break> broken) {
    try {
      cluster();
      parts(broken);
      for (Pod pod : DemoPods.all(NAMESPACE)) {
        way(pod, broken);
      }
      say.heading("limits");
      new Enforced(cluster, say, NAMESPACE).show();
      metrics();
      forbidden();
      return new Outcome(true, "demo: PASS");
    } catch (StepFailed e) {
      String step = broken.filter(b -> b.isNoticedAt(e.step())).map(Break::word).orElse(e.step());
      return new Outcome(false, "demo: FAIL " + step + ": " + e.getMessage());
    } catch (ClusterException e) {
      return new Outcome(false, "demo: FAIL cluster: " + e.getMessage());
    }
  }

  private void cluster() {
    say.heading("the cluster, real and built from source");
    Map<String, String> versions = cluster.versions();
    for (Part part : List.of(Part.KUBELET, Part.CONTAINERD)) {
      ProcessId id =
          cluster
              .part(part)
              .id()
              .orElseThrow(() -> new StepFailed("cluster", part + " does not run"));
      String version = versions.get(part == Part.KUBELET ? "kubernetes" : "containerd");
      say.step(
          "cluster",
          part
              + " pid "
              + id.pid()
              + " version "
              + version
              + " exe "
              + id.executable().map(Object::toString).orElse("?"));
    }
  }

  private void parts(Optional<Break> broken) {
    ProductConfig config = broken.map(Break::config).orElse(ProductConfig.DEFAULT);
    say.heading("our parts, on a node of eight A100");
    product.start(config);
    for (OurPart part : product.wantedParts()) {
      ManagedProcess process = product.process(part).orElseThrow();
      say.step(
          "parts",
          part.process()
              + " ready, pid "
              + process.id().map(i -> Long.toString(i.pid())).orElse("?")
              + ", account "
              + part.user());
    }
    var annotations = cluster.node().getMetadata().getAnnotations();
    say.step("parts", "the node offers " + product.allocatable() + " slots and published");
    for (String key : List.of(Names.DEFAULT.nodeConfigInfo(), Names.DEFAULT.nodeDeviceRegister())) {
      String value = annotations.getOrDefault(key, "(nothing)");
      say.fact(key + "=" + (value.length() > 160 ? value.substring(0, 160) + "…" : value));
    }
    client()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .serverSideApply();
    if (broken.filter(b -> b == Break.AGENT_DEAD).isPresent()) {
      product.process(OurPart.AGENT).orElseThrow().kill9();
      say.step("break", "the agent was killed");
    }
    broken.ifPresent(b -> say.step("break", "on purpose: " + b.word()));
  }

  private void way(Pod pod, Optional<Break> broken) {
    say.heading("pod " + pod.getMetadata().getName());
    PodWay way = new PodWay(cluster, product, say, pod);
    PodClaim claim;
    Optional<ClaimForger> forger =
        broken.filter(b -> b == Break.FORGED_ANNOTATION).map(b -> new ClaimForger(cluster, say));
    try {
      way.mended();
      claim = way.placed();
      way.bound();
    } finally {
      forger.ifPresent(ClaimForger::close);
    }
    way.admitted(claim);
    way.sees(claim);
    way.told();
    way.counted();
  }

  private void metrics() {
    say.heading("metrics");
    show(OurPart.AGENT, "vgpu_allocations|vgpu_kubelet_call|vgpu_region|node_vgpu_device_");
    show(OurPart.EXTENDER, "vgpu_scheduler_verb_total");
  }

  private void show(OurPart part, String pattern) {
    List<String> lines =
        product
            .metrics(part)
            .lines()
            .filter(l -> !l.startsWith("#") && l.matches("(?:" + pattern + ").*"))
            .filter(l -> !l.contains("_bucket") && !l.endsWith(" 0.0"))
            .limit(12)
            .toList();
    if (lines.isEmpty()) {
      throw new StepFailed("metrics", part.process() + " exports no series that match " + pattern);
    }
    say.step("metrics", "of " + part.process() + ", port " + part.opsPort());
    lines.forEach(say::fact);
  }

  private void forbidden() {
    // the audit log is written a moment after the answer
    Await.holdsWithin(Duration.ofMillis(200), () -> !product.forbidden().isEmpty());
    List<AuditLog.Request> holes = product.forbidden();
    if (!holes.isEmpty()) {
      throw new StepFailed("rights", "the API server forbade " + holes.getFirst());
    }
  }

  private io.fabric8.kubernetes.client.KubernetesClient client() {
    return cluster.client();
  }

  /** Stops our parts and removes the demo's pods; the cluster stays. */
  public void clean() {
    product.stop();
    // only a stopped controller makes no new pod out of one that is removed
    product.forgetCopies();
    client().pods().inNamespace(NAMESPACE).withGracePeriod(0).delete();
    Await.until(
        "the demo's pods to go",
        Duration.ofSeconds(60),
        () -> client().pods().inNamespace(NAMESPACE).list().getItems().isEmpty());
  }
}
