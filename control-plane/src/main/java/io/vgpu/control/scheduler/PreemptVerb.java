package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Budgets;
import io.vgpu.control.cluster.ClusterState.BoundPod;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.PreemptArgs.Proposal;
import io.vgpu.control.scheduler.PreemptArgs.Victim;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * On which of the proposed nodes, and with which victims, a pod would really get its cards
 * (control-plane.md 4.2): kube-scheduler counts numbers, not cards. Protected pods are taken off
 * the list, others of lower priority added one by one. Reads only; any thread.
 */
final class PreemptVerb {
  private final Allocator allocator;
  private final Predicate<PodRecord> budgeted;
  private final LongSupplier nanoTime;

  /** A node and who is bound to it, at one moment. */
  record Scene(NodeView node, List<BoundPod> pods) {
    Scene {
      pods = List.copyOf(pods);
    }
  }

  /** Why a proposed victim is none. */
  enum Shield {
    TERMINATING,
    CRITICAL,
    DAEMONSET,
    GANG_SIBLING;

    String word() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** The victims of a node that would do. */
  record Chosen(List<PodRecord> victims, long violations, int added) {
    Chosen {
      victims = List.copyOf(victims);
    }
  }

  /**
   * What was found.
   *
   * @param shields of all proposed victims that are none
   */
  record Answer(Map<String, Chosen> nodes, Map<String, Refused> dropped, List<Shield> shields) {}

  PreemptVerb(Allocator allocator, Budgets budgets, LongSupplier nanoTime) {
    this(allocator, budgets::protect, nanoTime);
  }

  /** {@code budgeted}: whether a disruption budget forbids to evict a pod. */
  PreemptVerb(Allocator allocator, Predicate<PodRecord> budgeted, LongSupplier nanoTime) {
    this.allocator = allocator;
    this.budgeted = budgeted;
    this.nanoTime = nanoTime;
  }

  /** Judges every proposal; nodes that are not in {@code scenes} are dropped. */
  Answer run(
      PodRequest pod, Map<String, Proposal> nodes, Map<String, Scene> scenes, Alignment alignment) {
    Map<String, Chosen> chosen = new LinkedHashMap<>();
    Map<String, Refused> dropped = new LinkedHashMap<>();
    List<Shield> shields = new ArrayList<>();
    nodes.forEach(
        (name, proposal) -> {
          Scene scene = scenes.get(name);
          List<PodRecord> victims = scene == null ? List.of() : resolve(proposal, scene);
          if (scene != null && !victims.isEmpty()) {
            Attempt attempt = new Attempt(pod, scene, alignment, proposal.violations());
            attempt
                .run(victims, shields)
                .ifPresentOrElse(
                    c -> chosen.put(name, c), () -> dropped.put(name, attempt.lastRefusal()));
          }
        });
    return new Answer(chosen, dropped, shields);
  }

  /** Victims that nobody knows any more are gone. */
  private static List<PodRecord> resolve(Proposal proposal, Scene scene) {
    List<PodRecord> victims = new ArrayList<>();
    for (Victim v : proposal.victims()) {
      scene.pods().stream()
          .map(BoundPod::pod)
          .filter(p -> p.uid().equals(v.uid()))
          .findFirst()
          .or(() -> Optional.ofNullable(v.full()))
          .ifPresent(victims::add);
    }
    return victims;
  }

  /** How many budgets a choice violates: what was counted, of those kept, and all that we add. */
  static long violations(long original, long kept, long added) {
    return Math.min(original, kept) + added;
  }

  private static Optional<Shield> shield(PodRecord victim, PodRequest preemptor) {
    var traits = victim.request().traits();
    if (victim.deleting() || victim.terminal()) {
      return Optional.of(Shield.TERMINATING);
    }
    if (traits.critical()) {
      return Optional.of(Shield.CRITICAL);
    }
    if (traits.daemonSet()) {
      return Optional.of(Shield.DAEMONSET);
    }
    return !traits.gang().isEmpty() && traits.gang().equals(preemptor.traits().gang())
        ? Optional.of(Shield.GANG_SIBLING)
        : Optional.empty();
  }

  /** One node. */
  private final class Attempt {
    private final PodRequest pod;
    private final Scene scene;
    private final Alignment alignment;
    private final long violations;
    private final Standing full;
    private Refused refusal = Refused.of(io.vgpu.model.Reason.NODE_INFO_BUILD_FAILED, "");

    Attempt(PodRequest pod, Scene scene, Alignment alignment, long violations) {
      this.pod = pod;
      this.scene = scene;
      this.alignment = alignment;
      this.violations = violations;
      this.full = scene.node().standing(pod.pod().uid(), nanoTime.getAsLong(), true);
    }

    Refused lastRefusal() {
      return refusal;
    }

    Optional<Chosen> run(List<PodRecord> proposed, List<Shield> shields) {
      if (!fitsWithout(scene.pods().stream().map(BoundPod::pod).toList())) {
        return Optional.empty(); // not even on an empty node
      }
      List<PodRecord> kept = new ArrayList<>();
      for (PodRecord victim : proposed) {
        Optional<Shield> shield = shield(victim, pod);
        shield.ifPresentOrElse(shields::add, () -> kept.add(victim));
      }
      List<PodRecord> victims = new ArrayList<>(kept);
      if (fitsWithout(victims)) {
        return Optional.of(chosen(victims, kept.size(), 0));
      }
      int added = 0;
      for (PodRecord more : candidates(victims)) {
        victims.add(more);
        added++;
        if (fitsWithout(victims)) {
          return Optional.of(chosen(victims, kept.size(), added));
        }
      }
      return Optional.empty();
    }

    private Chosen chosen(List<PodRecord> victims, int kept, int added) {
      return new Chosen(victims, violations(violations, kept, added), added);
    }

    private boolean fitsWithout(List<PodRecord> gone) {
      Standing standing = full;
      for (BoundPod bound : scene.pods()) {
        if (gone.stream().anyMatch(g -> g.uid().equals(bound.pod().uid()))) {
          standing = standing.with(bound.footprint().negated());
        }
      }
      return switch (allocator.plan(pod, standing, Look.QUICK, alignment)) {
        case Verdict.Fits fits -> true;
        case Refused no -> {
          refusal = no;
          yield false;
        }
      };
    }

    /** vGPU pods of lower priority that nothing protects; the least loss first. */
    private List<PodRecord> candidates(List<PodRecord> already) {
      return scene.pods().stream()
          .filter(b -> !b.footprint().cards().isEmpty())
          .sorted(
              Comparator.<BoundPod, Boolean>comparing(b -> !nearSiblings(b.footprint()))
                  .thenComparing(b -> !b.pod().request().traits().gang().isEmpty())
                  .thenComparingInt(b -> b.pod().request().traits().priorityOrZero())
                  .thenComparingLong(b -> -b.pod().request().traits().created())
                  .thenComparing(b -> b.pod().uid()))
          .map(BoundPod::pod)
          .filter(p -> !p.uid().equals(pod.pod().uid()) && !already.contains(p))
          .filter(p -> pod.traits().mayPreempt(p.request().traits()))
          .filter(p -> shield(p, pod).isEmpty() && !budgeted.test(p))
          .toList();
    }

    private boolean nearSiblings(Footprint footprint) {
      return alignment.isNear(
          scene.node().name(), scene.node().offer(), footprint.cards().keySet());
    }
  }
}
