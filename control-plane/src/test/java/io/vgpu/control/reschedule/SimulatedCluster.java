package io.vgpu.control.reschedule;

import io.vgpu.control.reschedule.FailedPod.Phase;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * An API server in memory that fails by a seed: requests that do not arrive, answers that are lost,
 * the caller's death before or after the effect, states that change meanwhile, budgets that refuse.
 * Keeps account of what was made for whom.
 */
final class SimulatedCluster implements PodsApi {
  static final String NAMESPACE = "ns";

  /** The controller dies here. */
  static final class Crash extends Error {
    Crash() {
      super("killed");
    }
  }

  /** A pod; mutable, as in the API. */
  static final class SimPod {
    final PodRef ref;
    final Optional<String> replaces;
    final int replacements;
    final Instant created;
    Phase phase = Phase.PENDING;
    boolean rejected;
    boolean marked;
    boolean leaves;
    boolean deleting;
    long version;

    SimPod(PodRef ref, Optional<String> replaces, int replacements, Instant created) {
      this.ref = ref;
      this.replaces = replaces;
      this.replacements = replacements;
      this.created = created;
    }

    FailedPod record() {
      return new FailedPod(
          ref,
          phase,
          true,
          rejected,
          marked,
          deleting,
          Optional.empty(),
          Optional.empty(),
          created,
          replacements,
          "",
          leaves ? Optional.of("GPU g is drained") : Optional.empty());
    }
  }

  /** Time that moves by hand. */
  final class SimClock extends Clock {
    Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return now;
    }

    void advance(Duration by) {
      now = now.plus(by);
    }
  }

  final SimClock clock = new SimClock();
  final Map<String, SimPod> pods = new LinkedHashMap<>();
  final Map<String, StoredCopy> copies = new LinkedHashMap<>();
  final Map<String, Integer> madeFor = new LinkedHashMap<>();
  final Set<String> failedEver = new HashSet<>();

  /** Pods that somebody began to replace, whether the request arrived or not. */
  final Set<String> promised = new HashSet<>();

  final List<String> faults = new ArrayList<>();

  /** What had its effect, in order: printed when a history ends badly. */
  final List<String> log = new ArrayList<>();

  private final Random random;
  double trouble;

  /** So many evictions more are refused. */
  int refusals;

  private long versions;
  private int uids;

  /** Another controller that acts in the middle of a call of the first: a leader not yet dead. */
  Runnable between = () -> {};

  SimulatedCluster(Random random) {
    this.random = random;
  }

  SimPod add(String name, Optional<String> replaces, int replacements) {
    SimPod pod =
        new SimPod(new PodRef(NAMESPACE, name, "uid-" + ++uids), replaces, replacements, clock.now);
    pod.version = ++versions;
    pods.put(name, pod);
    log.add("+ " + pod.ref + " for " + replaces.orElse("nobody"));
    return pod;
  }

  /**
   * The kubelet refuses the pod, or it runs without devices and the agent marks it, or its card is
   * drained.
   */
  void fail(SimPod pod) {
    failedEver.add(pod.ref.uid());
    log.add("failed " + pod.ref);
    switch (random.nextInt(3)) {
      case 0 -> {
        pod.phase = Phase.FAILED;
        pod.rejected = true;
      }
      case 1 -> {
        pod.phase = random.nextBoolean() ? Phase.RUNNING : Phase.PENDING;
        pod.marked = true;
      }
      default -> {
        pod.phase = random.nextBoolean() ? Phase.RUNNING : Phase.PENDING;
        pod.leaves = true;
      }
    }
    pod.version = ++versions;
  }

  /** Time passes: what is on its way out may go. */
  void tick() {
    clock.advance(Duration.ofMillis(50 + random.nextInt(3000)));
    pods.values().removeIf(p -> p.deleting && random.nextInt(3) == 0);
  }

  private void trouble(String call) {
    if (random.nextDouble() < trouble / 2) {
      between.run();
    }
    if (random.nextDouble() < trouble) {
      pods.values().forEach(p -> p.version = random.nextInt(8) == 0 ? ++versions : p.version);
    }
    hit(call + " not arrived");
  }

  private void hit(String what) {
    double chance = random.nextDouble();
    if (chance < trouble / 4) {
      faults.add("crash: " + what);
      log.add("crash");
      throw new Crash();
    }
    if (chance < trouble / 2) {
      faults.add("fault: " + what);
      throw new ApiFault(what);
    }
  }

  @Override
  public Optional<LivePod> get(String namespace, String name) {
    trouble("get");
    SimPod pod = pods.get(name);
    Optional<LivePod> live =
        pod == null
            ? Optional.empty()
            : Optional.of(
                new LivePod(
                    pod.record(), Long.toString(pod.version), pod.replaces, "copy of " + name));
    hit("get unanswered");
    return live;
  }

  @Override
  public Removal delete(PodRef ref, String resourceVersion) {
    trouble("delete");
    SimPod pod = pods.get(ref.name());
    if (pod == null
        || !pod.ref.equals(ref)
        || !Long.toString(pod.version).equals(resourceVersion)) {
      hit("delete unanswered");
      return Removal.CHANGED;
    }
    removed(pod);
    hit("delete unanswered");
    return Removal.ACCEPTED;
  }

  @Override
  public Removal evict(PodRef ref) {
    trouble("evict");
    SimPod pod = pods.get(ref.name());
    if (pod == null || !pod.ref.equals(ref)) {
      return Removal.CHANGED;
    }
    if (refusals-- > 0 || trouble > 0 && random.nextInt(3) == 0) {
      return Removal.REFUSED_NOW;
    }
    removed(pod);
    hit("evict unanswered");
    return Removal.ACCEPTED;
  }

  private void removed(SimPod pod) {
    log.add("- " + pod.ref + " " + pod.phase);
    if (pod.phase == Phase.RUNNING) {
      pod.deleting = true;
      pod.version = ++versions;
    } else {
      pods.remove(pod.ref.name());
    }
  }

  @Override
  public Creation create(StoredCopy copy) {
    trouble("create");
    PodRef original = copy.original();
    if (pods.containsKey(original.name())) {
      return new Creation.NameTaken();
    }
    if (trouble > 0 && random.nextInt(6) == 0) {
      return new Creation.Refused("quota");
    }
    SimPod made = add(original.name(), Optional.of(original.uid()), 1);
    madeFor.merge(original.uid(), 1, Integer::sum);
    hit("create unanswered");
    return new Creation.Made(made.ref);
  }

  @Override
  public void store(StoredCopy copy) {
    promised.add(copy.original().uid());
    trouble("store");
    copies.put(copy.original().uid(), copy);
    log.add("kept " + copy.original());
    hit("store unanswered");
  }

  @Override
  public List<StoredCopy> storedFor(String namespace, String name) {
    trouble("storedFor");
    return copies.values().stream().filter(c -> c.original().name().equals(name)).toList();
  }

  @Override
  public void forget(PodRef original) {
    trouble("forget");
    copies.remove(original.uid());
    log.add("let go " + original);
    hit("forget unanswered");
  }

  @Override
  public List<StoredCopy> stored() {
    trouble("stored");
    return List.copyOf(copies.values());
  }
}
