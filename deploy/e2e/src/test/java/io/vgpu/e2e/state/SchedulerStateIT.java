package io.vgpu.e2e.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import io.vgpu.e2e.state.SchedulerStandIn.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Many pods at once on few cards, the extender killed in the midst of its binds, and all that may
 * happen to pod and node between filter and bind.
 */
@RealCluster
class SchedulerStateIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int HALF = 50;
  private static final long MEMORY = 8_000;

  private final StateStage stage;

  SchedulerStateIT(Cluster cluster, TestNamespace namespace) {
    this.stage = new StateStage(cluster, namespace.name());
  }

  @BeforeEach
  void twoNodesOfTwoCards() {
    stage.nodes().create("state-a", 2);
    stage.nodes().create("state-b", 2);
  }

  @AfterEach
  void clear() {
    stage.close();
  }

  @Test
  void fiftyAtOncePromiseNoCardTwiceAndLosersAreToldWhy() throws Exception {
    int room = 8; // two halves of each of the four cards
    try (Promises promises = stage.promises()) {
      ExtenderProcess extender = stage.extender("burst");
      SchedulerStandIn scheduler = new SchedulerStandIn(extender);
      List<Pod> pods = stage.create("p", 50, HALF, MEMORY);
      Map<String, Outcome> ends = new TreeMap<>();
      untilTaken(room, () -> ends.putAll(together(pods, p -> untilDecided(scheduler, p))));

      List<String> winners = names(ends, Outcome.Bound.class);
      assertThat(winners).hasSize(room);
      assertThat(names(ends, Outcome.NoFit.class)).hasSize(50 - room);
      ends.values().stream()
          .filter(Outcome.NoFit.class::isInstance)
          .map(Outcome.NoFit.class::cast)
          .forEach(
              e -> {
                assertThat(e.refused()).containsOnlyKeys("state-a", "state-b");
                assertThat(e.refused().values())
                    .allMatch(t -> t.contains("Insufficient"), "tells what is short");
              });
      assertThat(boundNames()).containsExactlyInAnyOrderElementsOf(winners);

      // half of the room is given back: just so many of the others get it
      List<String> gone = winners.subList(0, room / 2);
      gone.forEach(stage.pods()::delete);
      List<Pod> losers = pods.stream().filter(p -> !winners.contains(name(p))).toList();
      Pod probe = losers.getFirst();
      Await.until("capacity to be seen", LIMIT, () -> !refusedEverywhere(scheduler, probe));
      untilTaken(room, () -> together(losers, p -> untilDecided(scheduler, p)));
      Await.until("the last bind to be seen", LIMIT, () -> promises.bound() == room);
      assertThat(promises.broken()).isEmpty();
    }
  }

  @Test
  void killedInTheMidstOfBindsItForgetsNothingAndPromisesNothingTwice() throws Exception {
    long seed = Long.getLong("vgpu.state.seed", ThreadLocalRandom.current().nextLong(1_000_000));
    System.out.println("kill -9: repeat with -Dvgpu.state.seed=" + seed);
    Random random = new Random(seed);
    int room = 20; // five fifths of each of the four cards
    try (Promises promises = stage.promises()) {
      ExtenderProcess extender = stage.extender("killed");
      SchedulerStandIn scheduler = new SchedulerStandIn(extender);
      List<Pod> pods = stage.create("k", 30, 20, 4_000);
      List<String> told = new ArrayList<>();
      for (int round = 0; round < 3; round++) {
        AtomicInteger untilKill = new AtomicInteger(1 + random.nextInt(6));
        long pauseNanos = random.nextLong(4_000_000);
        List<Pod> open =
            stage.pods().all().stream().filter(p -> p.getSpec().getNodeName() == null).toList();
        Map<String, Outcome> ends =
            together(
                open,
                p -> {
                  Outcome end = scheduler.cycle(p, stage.nodes().names());
                  if (end instanceof Outcome.Bound && untilKill.decrementAndGet() == 0) {
                    LockSupport.parkNanos(pauseNanos);
                    extender.kill9();
                  }
                  return end;
                });
        told.addAll(names(ends, Outcome.Bound.class));
        extender.kill9();
        extender.start();
      }
      untilTaken(room, () -> together(pods, p -> untilDecided(scheduler, p)));
      // a bind that was told of has happened, and no card stays taken for nobody
      assertThat(boundNames()).containsAll(told).hasSize(room);
      Await.until("the last bind to be seen", LIMIT, () -> promises.bound() == room);
      assertThat(promises.broken()).isEmpty();
    }
  }

  @Test
  void aPodThatGoesBetweenFilterAndBindTakesNothing() throws Exception {
    try (Promises promises = stage.promises()) {
      SchedulerStandIn scheduler = new SchedulerStandIn(stage.extender("gone"));
      List<String> nodes = List.of("state-a");
      Pod gone = stage.pods().create("gone", 1, 100, 20_000);
      Pod again = stage.pods().create("again", 1, 100, 20_000);
      assertThat(scheduler.filter(gone, nodes).fits()).isEqualTo(nodes);
      assertThat(scheduler.filter(again, nodes).fits()).isEqualTo(nodes);

      stage.pods().delete("gone");
      assertThat(scheduler.bind(gone, "state-a")).contains("gone").contains("not found");

      stage.pods().delete("again");
      Pod successor = stage.pods().create("again", 1, 100, 20_000);
      assertThat(scheduler.bind(again, "state-a")).contains(again.getMetadata().getUid());
      assertThat(stage.pods().read("again").getSpec().getNodeName()).isNull();
      assertThat(stage.pods().read("again").getMetadata().getAnnotations()).isNullOrEmpty();

      // both cards are free all the same
      assertThat(scheduler.cycle(successor, nodes)).isInstanceOf(Outcome.Bound.class);
      assertThat(scheduler.cycle(stage.pods().create("other", 1, 100, 20_000), nodes))
          .isInstanceOf(Outcome.Bound.class);
      Await.until("the last bind to be seen", LIMIT, () -> promises.bound() == 2);
      assertThat(promises.broken()).isEmpty();
    }
  }

  @Test
  void aNodeThatChangesBetweenFilterAndBindIsPlannedAnew() throws Exception {
    try (Promises promises = stage.promises()) {
      SchedulerStandIn scheduler = new SchedulerStandIn(stage.extender("changed"));
      Pod one = stage.pods().create("one", 1, 100, 20_000);
      Pod two = stage.pods().create("two", 1, 100, 20_000);
      Pod three = stage.pods().create("three", 1, 100, 20_000);
      for (Pod p : List.of(one, two, three)) {
        assertThat(scheduler.filter(p, stage.nodes().names()).fits()).hasSize(2);
      }

      // card 0 is lost: what was thought of at filter is planned on what is left
      stage.nodes().describe("state-a", StateNodes.cardsOf("state-a", 2).subList(1, 2));
      Pod pair = stage.pods().create("pair", 2, 10, 1_000);
      stage.awaitFits(scheduler, pair, 1);
      assertThat(scheduler.bind(one, "state-a")).isEmpty();
      assertThat(stage.pods().read("one").getMetadata().getAnnotations().values())
          .anyMatch(t -> t.contains("GPU-state-a-1"));
      assertThat(scheduler.bind(two, "state-a")).contains("Insufficient");

      stage.nodes().delete("state-b");
      stage.awaitFits(scheduler, pair, 0);
      assertThat(scheduler.bind(three, "state-b")).isNotEmpty();
      assertThat(stage.pods().read("three").getSpec().getNodeName()).isNull();
      assertThat(promises.broken()).isEmpty();
    }
  }

  // ---- the hands

  private interface Step {
    Outcome of(Pod pod);
  }

  private static Map<String, Outcome> together(List<Pod> pods, Step step) {
    Map<String, Future<Outcome>> running = new TreeMap<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Pod p : pods) {
        Callable<Outcome> task = () -> step.of(p);
        running.put(name(p), threads.submit(task));
      }
    }
    Map<String, Outcome> ends = new TreeMap<>();
    for (Map.Entry<String, Future<Outcome>> e : running.entrySet()) {
      ends.put(e.getKey(), e.getValue().resultNow());
    }
    return ends;
  }

  /** Waves until so many are bound: a hold of 2 s may send a pod away that would have fitted. */
  private void untilTaken(int room, Runnable wave) {
    Await.until(
        "room for " + room + " to be taken",
        LIMIT,
        () -> {
          wave.run();
          return stage.pods().bound().size() >= room;
        });
  }

  /** Again after each refused bind, as kube-scheduler does, until it is bound or nothing fits. */
  private Outcome untilDecided(SchedulerStandIn scheduler, Pod pod) {
    Outcome end = new Outcome.Refused("never asked");
    for (int i = 0; i < 40 && end instanceof Outcome.Refused; i++) {
      Pod now = stage.pods().read(name(pod));
      if (now.getSpec().getNodeName() != null) {
        return new Outcome.Bound(now.getSpec().getNodeName());
      }
      end = scheduler.cycle(now, stage.nodes().names());
    }
    return end;
  }

  private boolean refusedEverywhere(SchedulerStandIn scheduler, Pod pod) {
    try {
      return scheduler.filter(pod, stage.nodes().names()).fits().isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException("the extender does not answer", e);
    }
  }

  private List<String> boundNames() {
    return stage.pods().bound().stream().map(SchedulerStateIT::name).toList();
  }

  private static List<String> names(Map<String, Outcome> ends, Class<? extends Outcome> kind) {
    return ends.entrySet().stream()
        .filter(e -> kind.isInstance(e.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  private static String name(Pod pod) {
    return pod.getMetadata().getName();
  }
}
