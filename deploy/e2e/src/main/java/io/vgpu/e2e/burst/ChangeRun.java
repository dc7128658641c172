package io.vgpu.e2e.burst;

import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A hundred pods while one agent comes after the other (D22): each must end with exactly its claim,
 * and what failed because nobody served the kubelet is replaced exactly once. Our parts must run,
 * and go on running. One run at a time.
 */
public final class ChangeRun {
  private static final int PODS = 100;

  /** Then the agent is changed: the kubelet is at it, and most pods wait. */
  private static final int BEGUN = 20;

  private static final Duration BEGIN = Duration.ofMinutes(2);
  private static final Duration SETTLES = Duration.ofMinutes(5);

  /** The agent's own word of the gap, from its predecessor's end to its own first list. */
  private static final Pattern OWN_GAP = Pattern.compile("took over \\[gap: (\\d+) us]");

  private final Cluster cluster;
  private final Product product;
  private final String namespace;
  private final PrintStream out;

  /** No pod may be in the namespace. */
  public ChangeRun(Cluster cluster, Product product, String namespace, PrintStream out) {
    this.cluster = cluster;
    this.product = product;
    this.namespace = namespace;
    this.out = out;
  }

  /** Makes the pods of the seed, changes the agent among them, and returns the verdict. */
  public ChangeReport run(Change change, long seed) {
    Optional<ManagedProcess> old =
        change.prepared() ? Optional.of(product.startNextAgent()) : Optional.empty();
    int kubeletLog = cluster.part(Part.KUBELET).log().length();
    int agentLog = product.log(OurPart.AGENT).length();
    try (Scene scene = new Scene(cluster, product, namespace, out)) {
      scene.say(change + ": the burst begins");
      scene.play("up", PODS, seed);
      Await.until("pods to begin", BEGIN, () -> scene.begun() >= BEGUN);
      int begun = scene.begun();
      int queued = scene.queued();
      change(change, old);
      product.awaitReady(OurPart.AGENT);
      scene.say("another agent serves; waiting for the last pod");
      scene.awaitSettled(SETTLES);
      double seconds = scene.seconds();
      List<String> findings = new ArrayList<>(scene.judge());
      List<KubeletGap> gaps =
          KubeletGap.of(
              cluster.part(Part.KUBELET).log().substring(kubeletLog), Names.DEFAULT.vgpuNumber());
      if (gaps.size() != 1) {
        findings.add("one change of agents, but the kubelet was without one in " + gaps);
      }
      if (queued == 0) {
        findings.add("nobody waited when the agent was changed: the burst shows nothing");
      }
      return new ChangeReport(
          change,
          seed,
          PODS,
          gaps.stream().mapToDouble(KubeletGap::ms).max().orElse(0),
          ownGap(product.log(OurPart.AGENT).substring(agentLog)),
          begun,
          queued,
          scene.failed(),
          scene.replaced(),
          seconds,
          ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
          findings,
          scene.stories());
    }
  }

  private void change(Change change, Optional<ManagedProcess> old) {
    switch (change) {
      case UPGRADE -> old.orElseThrow().stop();
      case KILLED_BESIDE -> old.orElseThrow().kill9();
      case CRASH -> {
        product.process(OurPart.AGENT).orElseThrow().kill9();
        product.startPart(OurPart.AGENT);
      }
    }
  }

  private static Optional<Double> ownGap(String log) {
    Matcher m = OWN_GAP.matcher(log);
    return m.find() ? Optional.of(Long.parseLong(m.group(1)) / 1e3) : Optional.empty();
  }
}
