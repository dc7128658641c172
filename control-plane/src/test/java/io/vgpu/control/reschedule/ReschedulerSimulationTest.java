package io.vgpu.control.reschedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.control.reschedule.FailedPod.Phase;
import io.vgpu.control.reschedule.SimulatedCluster.Crash;
import io.vgpu.control.reschedule.SimulatedCluster.SimPod;
import io.vgpu.model.PodRef;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Every failed bare pod is replaced exactly once, never lost and never doubled, whatever dies or is
 * lost on the way. Each seed is one history; a failure prints it.
 */
class ReschedulerSimulationTest {
  private static final int SEEDS = Integer.getInteger("vgpu.simulation.seeds", 1000);
  private static final int ROUNDS = 120;
  private static final int PODS = 6;

  @Test
  void everyFailedPodIsReplacedExactlyOnce() {
    int crashes = 0;
    int faults = 0;
    int replaced = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      History history = new History(seed, api -> api, new RescheduleReconciler());
      history.run();
      crashes += (int) history.cluster.faults.stream().filter(f -> f.startsWith("crash")).count();
      faults += (int) history.cluster.faults.stream().filter(f -> f.startsWith("fault")).count();
      replaced += history.cluster.madeFor.size();
    }
    // a simulation in which nothing goes wrong proves nothing
    assertThat(crashes).isGreaterThan(SEEDS);
    assertThat(faults).isGreaterThan(SEEDS);
    assertThat(replaced).isGreaterThan(SEEDS * PODS / 2);
  }

  @Test
  void catchesAControllerThatKeepsItsCopiesInMemory() {
    caught(InMemory::new, new RescheduleReconciler());
  }

  @Test
  void catchesAControllerThatLetsGoOfTheCopyOnceThePodIsRemoved() {
    caught(TooEarly::new, new RescheduleReconciler());
  }

  @Test
  void catchesAControllerThatIsBlindForUids() {
    caught(
        api -> api,
        new RescheduleReconciler() {
          @Override
          public Step next(PodRef original, Optional<StoredCopy> stored, Optional<LivePod> live) {
            boolean namesake =
                stored.isPresent() && live.filter(l -> !l.pod().deleting()).isPresent();
            return namesake ? Step.REMOVE : super.next(original, stored, live);
          }
        });
  }

  /** A budget that refuses for a while only delays; a drain that is taken back leaves the pod. */
  @Test
  void aDrainedCardsPodIsReplacedOnceItsBudgetAllowsUnlessTheDrainEndsFirst() {
    SimulatedCluster cluster = new SimulatedCluster(new Random(1));
    Rescheduler rescheduler =
        new Rescheduler(cluster, new RescheduleReconciler(), new Silent(), cluster.clock);
    SimPod pod = cluster.add("p", Optional.empty(), 0);
    pod.phase = Phase.RUNNING;
    pod.leaves = true;
    cluster.refusals = 3;
    rounds(cluster, rescheduler, 4);
    assertThat(cluster.pods.get("p")).as("refused so far").isSameAs(pod);
    assertThat(cluster.copies).hasSize(1);
    pod.leaves = false;
    rounds(cluster, rescheduler, 4);
    assertThat(cluster.pods.get("p")).as("uncordoned").isSameAs(pod);
    assertThat(cluster.copies).isEmpty();
    assertThat(rescheduler.pending()).isZero();
    pod.leaves = true;
    cluster.refusals = 2;
    rounds(cluster, rescheduler, 20);
    assertThat(cluster.madeFor).containsExactly(Map.entry(pod.ref.uid(), 1));
  }

  private static void rounds(SimulatedCluster cluster, Rescheduler rescheduler, int rounds) {
    for (int round = 0; round < rounds; round++) {
      cluster.pods.values().forEach(p -> rescheduler.offer(p.record()));
      rescheduler.work();
      cluster.clock.advance(Duration.ofMillis(500));
      cluster.pods.values().removeIf(p -> p.deleting);
    }
  }

  private static void caught(Function<PodsApi, PodsApi> broken, RescheduleReconciler reconciler) {
    assertThatThrownBy(
            () -> {
              for (int seed = 0; seed < SEEDS; seed++) {
                new History(seed, broken, reconciler).run();
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("seed");
  }

  /** One seeded course of events. */
  private static final class History {
    private final int seed;
    private final Random random;
    private final SimulatedCluster cluster;
    private final Function<PodsApi, PodsApi> wrap;
    private final RescheduleReconciler reconciler;
    private final Set<String> excused = new HashSet<>();
    private Rescheduler first;
    private Rescheduler second;

    History(int seed, Function<PodsApi, PodsApi> wrap, RescheduleReconciler reconciler) {
      this.seed = seed;
      this.random = new Random(seed);
      this.cluster = new SimulatedCluster(random);
      this.wrap = wrap;
      this.reconciler = reconciler;
      this.first = start();
      this.second = start();
    }

    private Rescheduler start() {
      return new Rescheduler(wrap.apply(cluster), reconciler, new Silent(), cluster.clock);
    }

    void run() {
      for (int i = 0; i < PODS; i++) {
        cluster.add("p" + i, Optional.empty(), 0);
      }
      cluster.trouble = 0.05 + random.nextDouble() * 0.2;
      boolean twoLeaders = random.nextBoolean();
      for (int round = 0; round < ROUNDS; round++) {
        world(round, twoLeaders);
        tell(first);
        if (twoLeaders) {
          tell(second);
          cluster.between = random.nextInt(4) == 0 ? this::interrupt : () -> {};
        }
        work();
        cluster.tick();
      }
      cluster.between = () -> {};
      settle();
      check();
    }

    /**
     * Kubelet, agent and users. Users stay away while two controllers act (seconds, when a leader
     * died without telling): one of them may hold on to a promise that the other has kept already.
     */
    private void world(int round, boolean twoLeaders) {
      for (SimPod pod : List.copyOf(cluster.pods.values())) {
        boolean fresh = !pod.rejected && !pod.marked && !pod.leaves && !pod.deleting;
        if (fresh && round < ROUNDS - 20 && random.nextInt(12) == 0) {
          cluster.fail(pod);
        } else if (pod.rejected && !twoLeaders && random.nextInt(60) == 0 && untouched(pod)) {
          cluster.pods.remove(pod.ref.name());
          cluster.log.add("- " + pod.ref + " by its user");
          excused.add(pod.ref.uid()); // its owner did not want it any more
        }
      }
      // somebody takes a name in the moment in which it is free
      for (StoredCopy copy : List.copyOf(cluster.copies.values())) {
        String name = copy.original().name();
        if (!cluster.pods.containsKey(name) && !twoLeaders && random.nextInt(25) == 0) {
          cluster.add(name, Optional.empty(), 0);
          cluster.copies.values().stream()
              .map(StoredCopy::original)
              .filter(o -> o.name().equals(name) && !cluster.madeFor.containsKey(o.uid()))
              .forEach(o -> excused.add(o.uid()));
        }
      }
    }

    /**
     * No promise about its name is open. A user's deletion while one is cannot be told from our own
     * removal, or from a making that never happened, and then the pod is made again: never lost
     * goes first.
     */
    private boolean untouched(SimPod pod) {
      return !cluster.promised.contains(pod.ref.uid())
          && cluster.copies.values().stream()
              .noneMatch(c -> c.original().name().equals(pod.ref.name()));
    }

    /** The watch: doubled, late, or of pods that are long gone. */
    private void tell(Rescheduler to) {
      for (SimPod pod : cluster.pods.values()) {
        for (int times = random.nextInt(3); times > 0; times--) {
          to.offer(pod.record());
        }
        if (random.nextInt(10) == 0) {
          SimPod ghost =
              new SimPod(
                  new PodRef(SimulatedCluster.NAMESPACE, pod.ref.name(), "uid-of-the-past"),
                  Optional.empty(),
                  0,
                  cluster.clock.now);
          ghost.phase = Phase.FAILED;
          ghost.rejected = true;
          to.offer(ghost.record());
        }
      }
    }

    private void interrupt() {
      cluster.between = () -> {};
      second.work();
    }

    private void work() {
      try {
        first.work();
      } catch (Crash e) {
        first = start();
        if (random.nextBoolean()) {
          second = start();
        }
      }
    }

    /** Nothing goes wrong any more: what was promised must come true within a bounded time. */
    private void settle() {
      cluster.trouble = 0;
      first = start();
      for (int round = 0; round < 200; round++) {
        cluster.pods.values().forEach(p -> first.offer(p.record()));
        first.work();
        cluster.clock.advance(Duration.ofSeconds(20));
        cluster.pods.values().removeIf(p -> p.deleting);
      }
    }

    private void check() {
      String what = "seed " + seed + ": " + String.join("\n", cluster.log) + "\n";
      assertThat(cluster.copies).as(what + "copies left behind").isEmpty();
      assertThat(first.pending()).as(what + "work left").isZero();
      for (SimPod pod : cluster.pods.values()) {
        assertThat(pod.record().mustGo()).as(what + pod.ref + " still has to go").isFalse();
      }
      Map<String, Integer> wanted = new HashMap<>();
      cluster.failedEver.stream()
          .filter(uid -> !excused.contains(uid))
          .forEach(uid -> wanted.put(uid, 1));
      assertThat(cluster.madeFor).as(what + "replacements by UID").isEqualTo(wanted);
      assertThat(cluster.pods.keySet()).as(what + "names").hasSizeLessThanOrEqualTo(PODS);
    }
  }

  private static class InMemory extends Forwarding {
    private final Map<String, StoredCopy> memory = new HashMap<>();

    InMemory(PodsApi api) {
      super(api);
    }

    @Override
    public void store(StoredCopy copy) {
      memory.put(copy.original().uid(), copy);
    }

    @Override
    public List<StoredCopy> storedFor(String namespace, String name) {
      return memory.values().stream().filter(c -> c.original().name().equals(name)).toList();
    }

    @Override
    public List<StoredCopy> stored() {
      return List.copyOf(memory.values());
    }
  }

  private static final class TooEarly extends Forwarding {
    TooEarly(PodsApi api) {
      super(api);
    }

    @Override
    public Removal delete(PodRef pod, String resourceVersion) {
      Removal removal = super.delete(pod, resourceVersion);
      super.forget(pod);
      return removal;
    }
  }

  private static class Forwarding implements PodsApi {
    private final PodsApi api;

    Forwarding(PodsApi api) {
      this.api = api;
    }

    @Override
    public Optional<LivePod> get(String namespace, String name) {
      return api.get(namespace, name);
    }

    @Override
    public Removal delete(PodRef pod, String resourceVersion) {
      return api.delete(pod, resourceVersion);
    }

    @Override
    public Removal evict(PodRef pod) {
      return api.evict(pod);
    }

    @Override
    public Creation create(StoredCopy copy) {
      return api.create(copy);
    }

    @Override
    public void store(StoredCopy copy) {
      api.store(copy);
    }

    @Override
    public List<StoredCopy> storedFor(String namespace, String name) {
      return api.storedFor(namespace, name);
    }

    @Override
    public void forget(PodRef original) {
      api.forget(original);
    }

    @Override
    public List<StoredCopy> stored() {
      return api.stored();
    }
  }

  private static final class Silent implements RescheduleNews {
    @Override
    public void replaced(PodRef original, PodRef replacement, String cause) {}

    @Override
    public void evicted(PodRef pod, Owner owner, String cause) {}

    @Override
    public void skipped(FailedPod pod, String why) {}

    @Override
    public void backingOff(FailedPod pod, Duration pause) {}

    @Override
    public void evictionRefused(PodRef pod, String why) {}

    @Override
    public void nameTaken(PodRef original, PodRef namesake) {}

    @Override
    public void notMadeYet(PodRef original, String why) {}

    @Override
    public void givenUp(PodRef original, String why) {}
  }
}
