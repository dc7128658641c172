package io.vgpu.e2e.demo;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.DriverMounts;
import io.vgpu.e2e.product.FakeCards;
import io.vgpu.e2e.product.FakeCards.Card;
import io.vgpu.e2e.product.LoadFile;
import io.vgpu.e2e.product.VgpuPods;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Shows that the limits hold: a pod asks the driver for its memory and takes what it can get, then
 * keeps its card busy; how busy is read from outside. The same pod without a limit on cores is the
 * control.
 */
final class Enforced {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration WARM = Duration.ofSeconds(2);
  private static final Duration MEASURED = Duration.ofSeconds(6);
  private static final Pattern PROBE =
      Pattern.compile(
          "\\{\"total_mib\": (\\d+), \"free_mib\": (\\d+), \"given_mib\": (\\d+), \"error\": (\\d+)\\}");

  /** Kernels of a millisecond, one after the other, for longer than anybody looks. */
  private static final String USE = "gpu-probe; exec gpu-work --rounds 1000000 --seconds 3600";

  private static final int OUT_OF_MEMORY = 2;
  private static final int MEMORY_MIB = 1024;
  private static final int CONTEXT_MIB =
      520; // of the fake driver; what a program loads comes on top
  private static final int CORES = 10;
  private static final double MAY_MISS = 2;
  private static final double UNLIMITED = 90;

  private final Cluster cluster;
  private final Checkout checkout = Checkout.find();
  private final FakeCards cards;
  private final Narrator say;
  private final String namespace;

  Enforced(Cluster cluster, Narrator say, String namespace) {
    this.cluster = cluster;
    this.cards = new FakeCards(cluster, checkout);
    this.say = say;
    this.namespace = namespace;
  }

  /** Both pods, one after the other. */
  void show() {
    Card limited = start("limited", Map.of());
    memory("limited", limited);
    context("limited");
    double share = share(limited.index());
    say.step(
        "cores",
        "of card %d the pod's kernels had %.1f %%, as its own ledger says; the limit is %d %%"
            .formatted(limited.index(), share, CORES));
    if (Math.abs(share - CORES) > MAY_MISS) {
      throw new StepFailed("cores", "%.1f %% of the card instead of %d".formatted(share, CORES));
    }
    remove("limited");
    Card free = start("without", Map.of(Names.DEFAULT.computePolicy(), "none"));
    double all = share(free.index());
    say.step("cores", "the same pod with policy none had %.1f %%".formatted(all));
    if (all < UNLIMITED) {
      throw new StepFailed(
          "cores", "the control, without a limit, had only %.1f %%".formatted(all));
    }
    remove("without");
  }

  private Card start(String name, Map<String, String> annotations) {
    Pod pod =
        VgpuPods.pod(
            namespace,
            name,
            annotations,
            List.of(VgpuPods.container("main", VgpuPods.limits(1, CORES, MEMORY_MIB), USE)));
    cluster.client().resource(DriverMounts.into(pod, cluster)).create();
    Await.until("pod " + name + " to use its card", LIMIT, () -> probe(name).isPresent());
    int card =
        ClaimCodec.decode(
                get(name)
                    .getMetadata()
                    .getAnnotations()
                    .getOrDefault(Names.DEFAULT.preAllocated(), ""))
            .containers()
            .getFirst()
            .devices()
            .getFirst()
            .index();
    return cards.card(card);
  }

  private void memory(String name, Card card) {
    Matcher m = probe(name).orElseThrow();
    int total = Integer.parseInt(m.group(1));
    int given = Integer.parseInt(m.group(3));
    int error = Integer.parseInt(m.group(4));
    say.step(
        "memory",
        "the container is told of %d MiB, got %d MiB beside its context, then error %d"
            .formatted(total, given, error));
    say.fact(
        "card %d itself: at most %d MiB were ever taken of it"
            .formatted(card.index(), card.peakBytes() >> 20));
    if (total != MEMORY_MIB || error != OUT_OF_MEMORY || given == 0) {
      throw new StepFailed(
          "memory",
          "told %d MiB instead of %d, given %d, error %d"
              .formatted(total, MEMORY_MIB, given, error));
    }
    if (card.peakBytes() > (long) MEMORY_MIB << 20) {
      throw new StepFailed("memory", card.peakBytes() + " bytes were taken of the card");
    }
  }

  /** The agent finds the container's processes in the driver's list by their cgroups. */
  private void context(String name) {
    String uid = get(name).getMetadata().getUid();
    Await.until(
        "the agent to measure what a context takes",
        LIMIT,
        () -> LoadFile.measured(cluster, checkout, uid, "main").samples() > 0);
    LoadFile.Measured measured = LoadFile.measured(cluster, checkout, uid, "main");
    long mib = measured.contextBytes() >> 20;
    say.fact(
        "its context takes %d MiB by the driver, as the agent measured from outside"
            .formatted(mib));
    if (mib < CONTEXT_MIB || mib > CONTEXT_MIB + 16) {
      throw new StepFailed("memory", "a context was measured as %d MiB".formatted(mib));
    }
  }

  /** Percent of the time that kernels ran on the card. */
  private double share(int card) {
    pass(WARM);
    long began = System.nanoTime();
    long busy = cards.card(card).busyNs();
    pass(MEASURED);
    long more = cards.card(card).busyNs() - busy;
    return 100.0 * more / (System.nanoTime() - began);
  }

  private static void pass(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    Await.holdsWithin(time, () -> System.nanoTime() - end >= 0);
  }

  private Optional<Matcher> probe(String name) {
    try {
      Matcher m =
          PROBE.matcher(
              cluster
                  .client()
                  .pods()
                  .inNamespace(namespace)
                  .withName(name)
                  .inContainer("main")
                  .getLog());
      return m.find() ? Optional.of(m) : Optional.empty();
    } catch (KubernetesClientException e) {
      return Optional.empty(); // not started yet
    }
  }

  private Pod get(String name) {
    return cluster.client().pods().inNamespace(namespace).withName(name).get();
  }

  private void remove(String name) {
    cluster.client().pods().inNamespace(namespace).withName(name).withGracePeriod(0).delete();
    Await.until("pod " + name + " to go", LIMIT, () -> get(name) == null);
  }
}
