package io.vgpu.e2e.burst;

import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Kills parts with SIGKILL and starts them again. A part that ends without having been killed is a
 * finding: on a cluster it would be restarted with a back-off, but it should not have ended. Safe
 * for several threads.
 */
final class Killer {
  private final Cluster cluster;
  private final Product product;
  private final LongSupplier elapsedMs;
  private final Set<Victim> down = EnumSet.noneOf(Victim.class);
  private final List<Killing> killings = new ArrayList<>();
  private final List<Finding> findings = new ArrayList<>();
  private Optional<Long> checkpointLostAtMs = Optional.empty();

  Killer(Cluster cluster, Product product, LongSupplier elapsedMs) {
    this.cluster = cluster;
    this.product = product;
    this.elapsedMs = elapsedMs;
  }

  /** A kill that was carried out. */
  record Killing(long atMs, Step step, String kind) {}

  /** Kills it; one that is down already stays so. */
  synchronized void kill(Victim victim, Step step) {
    String kind = step instanceof Step.LoseCheckpoint ? "kubelet+checkpoint" : victim.toString();
    killings.add(new Killing(elapsedMs.getAsLong(), step, kind));
    if (down.contains(victim)) {
      return;
    }
    noteIfEnded(victim);
    process(victim).kill9();
    down.add(victim);
  }

  /** Removes the kubelet's checkpoint, while it is down. */
  synchronized void loseCheckpoint() {
    WithoutPlugin.loseCheckpoint(cluster.paths().devicePluginsDir());
    checkpointLostAtMs = Optional.of(elapsedMs.getAsLong());
  }

  /** Starts it if it is dead; does not wait until it serves. */
  synchronized void start(Victim victim) {
    if (!process(victim).isAlive()) {
      switch (victim) {
        case KUBELET -> cluster.part(Part.KUBELET).start();
        case EXTENDER, CONTROLLER, AGENT -> product.startPart(part(victim));
      }
    }
    down.remove(victim);
  }

  /** After the last kill: everything runs again. */
  synchronized void revive() {
    for (Victim victim : Victim.values()) {
      if (!down.contains(victim)) {
        noteIfEnded(victim);
      }
      start(victim);
    }
  }

  /** At the end: every part must still run. */
  synchronized List<Finding> findings() {
    for (Victim victim : Victim.values()) {
      noteIfEnded(victim);
    }
    if (!product.process(OurPart.WEBHOOK).map(ManagedProcess::isAlive).orElse(false)) {
      findings.add(Finding.of(Check.RUN, "the webhook ended by itself"));
    }
    return List.copyOf(findings);
  }

  synchronized List<Killing> killings() {
    return List.copyOf(killings);
  }

  /** When the kubelet's checkpoint was last removed under way. */
  synchronized Optional<Long> checkpointLostAtMs() {
    return checkpointLostAtMs;
  }

  private void noteIfEnded(Victim victim) {
    if (!process(victim).isAlive()) {
      findings.add(
          Finding.of(
              Check.RUN,
              "the %s ended by itself, status %s"
                  .formatted(
                      victim, process(victim).exitCode().map(Object::toString).orElse("?"))));
    }
  }

  private ManagedProcess process(Victim victim) {
    return switch (victim) {
      case KUBELET -> cluster.part(Part.KUBELET);
      case EXTENDER, CONTROLLER, AGENT -> product.process(part(victim)).orElseThrow();
    };
  }

  private static OurPart part(Victim victim) {
    return switch (victim) {
      case EXTENDER -> OurPart.EXTENDER;
      case CONTROLLER -> OurPart.CONTROLLER;
      case AGENT -> OurPart.AGENT;
      case KUBELET -> throw new IllegalArgumentException("the kubelet is no part of ours");
    };
  }
}
