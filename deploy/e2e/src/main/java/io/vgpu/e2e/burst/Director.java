package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.vgpu.e2e.burst.Finding.Check;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Plays a plan's steps at their moments: one thread makes pods, one kills, one opens gates. A step
 * that cannot be played is a finding; the others go on.
 */
final class Director implements AutoCloseable {
  private static final Duration GATE_PERIOD = Duration.ofMillis(100);
  private static final Duration AGAIN = Duration.ofMillis(500);
  private static final int TRIES = 8;
  private static final int CONFLICT = 409;
  private static final int SERVER_FAULT = 500;

  private final KubernetesClient client;
  private final String namespace;
  private final PodHistory history;
  private final Killer killer;
  private final ScheduledExecutorService maker = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledExecutorService executioner = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledExecutorService gatekeeper = Executors.newSingleThreadScheduledExecutor();
  private final List<Playing> playing = new ArrayList<>();
  private final Queue<Playing> starts = new ConcurrentLinkedQueue<>();
  private final Set<String> openGates = ConcurrentHashMap.newKeySet();
  private final Set<String> made = ConcurrentHashMap.newKeySet();
  private final Set<String> forceDeleted = ConcurrentHashMap.newKeySet();
  private final Set<String> opened = new HashSet<>();
  private Optional<Future<?>> gates = Optional.empty();
  private final AtomicInteger triedAgain = new AtomicInteger();

  Director(KubernetesClient client, String namespace, PodHistory history, Killer killer) {
    this.client = client;
    this.namespace = namespace;
    this.history = history;
    this.killer = killer;
  }

  private record Playing(Step step, Future<?> future) {}

  /** Begins; returns at once. */
  void play(BurstPlan plan) {
    gates =
        Optional.of(
            gatekeeper.scheduleWithFixedDelay(
                this::openGates, 0, GATE_PERIOD.toMillis(), TimeUnit.MILLISECONDS));
    for (Step step : plan.steps()) {
      ScheduledExecutorService thread =
          switch (step) {
            case Step.Create _, Step.Remake _ -> maker;
            case Step.OpenGate _ -> gatekeeper;
            case Step.Kill _, Step.LoseCheckpoint _ -> executioner;
          };
      playing.add(
          new Playing(step, thread.schedule(() -> play(step), step.atMs(), TimeUnit.MILLISECONDS)));
    }
  }

  private void play(Step step) {
    switch (step) {
      case Step.Create(int _, PodPlan pod) -> create(pod);
      case Step.OpenGate(int _, String name) -> openGates.add(name);
      case Step.Remake(int _, PodPlan pod) -> remake(pod);
      case Step.Kill(int _, Victim victim, int downMs) -> {
        killer.kill(victim, step);
        startLater(step, victim, downMs);
      }
      case Step.LoseCheckpoint(int _, int downMs) -> {
        killer.kill(Victim.KUBELET, step);
        killer.loseCheckpoint();
        startLater(step, Victim.KUBELET, downMs);
      }
    }
  }

  private void startLater(Step step, Victim victim, int downMs) {
    starts.add(
        new Playing(
            step, executioner.schedule(() -> killer.start(victim), downMs, TimeUnit.MILLISECONDS)));
  }

  /** Waits until every step was played; those that failed, or hang, are findings. */
  List<Finding> awaitPlayed(Duration limit) {
    List<Finding> findings = new ArrayList<>();
    long end = System.nanoTime() + limit.toNanos();
    playing.forEach(p -> await(p, end, limit).ifPresent(findings::add));
    // complete only now: each kill adds its victim's start
    starts.forEach(p -> await(p, end, limit).ifPresent(findings::add));
    return findings;
  }

  private static Optional<Finding> await(Playing p, long end, Duration limit) {
    try {
      p.future().get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      return Optional.empty();
    } catch (ExecutionException e) {
      return Optional.of(Finding.of(Check.RUN, p.step() + ": " + e.getCause()));
    } catch (TimeoutException e) {
      return Optional.of(Finding.of(Check.RUN, p.step() + ": not done within " + limit));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(Finding.of(Check.RUN, p.step() + ": interrupted"));
    }
  }

  /** UIDs of the pods that the burst itself made. */
  Set<String> made() {
    return Set.copyOf(made);
  }

  /** UIDs of the pods that the burst force-deleted. */
  Set<String> forceDeleted() {
    return Set.copyOf(forceDeleted);
  }

  /** How often making a pod had to be tried again because the API server or our webhook failed. */
  int triedAgain() {
    return triedAgain.get();
  }

  /** An opener of gates that has died is a finding. */
  List<Finding> faults() {
    return gates
        .filter(Future::isDone)
        .map(f -> List.of(Finding.of(Check.RUN, "gates are no longer opened: " + why(f))))
        .orElse(List.of());
  }

  static String why(Future<?> future) {
    return switch (future.state()) {
      case FAILED -> future.exceptionNow().toString();
      case RUNNING, SUCCESS, CANCELLED -> future.state().toString();
    };
  }

  private void create(PodPlan plan) {
    if (plan.owned()) {
      make(BurstPods.job(namespace, plan));
    } else {
      make(BurstPods.bare(namespace, plan)).ifPresent(made::add);
    }
  }

  /** Makes an object and returns its UID; empty when its name is taken. */
  private Optional<String> make(HasMetadata object) {
    for (int i = 1; ; i++) {
      try {
        return Optional.of(client.resource(object).create().getMetadata().getUid());
      } catch (KubernetesClientException e) {
        if (e.getCode() == CONFLICT) {
          return Optional.empty();
        }
        boolean passing = e.getCode() == 0 || e.getCode() >= SERVER_FAULT;
        if (!passing || i == TRIES) {
          throw e;
        }
        triedAgain.incrementAndGet();
        LockSupport.parkNanos(AGAIN.toNanos());
      }
    }
  }

  /**
   * The rescheduler may be at work under the same name: whoever bears it is deleted, until ours
   * does.
   */
  private void remake(PodPlan plan) {
    Pod next = BurstPods.bare(namespace, plan);
    for (int i = 0; i < TRIES; i++) {
      Pod present = client.pods().inNamespace(namespace).withName(plan.name()).get();
      if (present != null) {
        forceDelete(present.getMetadata().getName(), present.getMetadata().getUid());
      }
      Optional<String> uid = make(next);
      if (uid.isPresent()) {
        made.add(uid.get());
        return;
      }
    }
    throw new IllegalStateException("the name " + plan.name() + " was taken at each try");
  }

  private void forceDelete(String name, String uid) {
    forceDeleted.add(uid);
    try {
      client.raw(
          "/api/v1/namespaces/" + namespace + "/pods/" + name,
          "DELETE",
          Map.of(
              "apiVersion",
              "v1",
              "kind",
              "DeleteOptions",
              "gracePeriodSeconds",
              0,
              "preconditions",
              Map.of("uid", uid)));
    } catch (KubernetesClientException e) {
      if (e.getCode() != 404 && e.getCode() != CONFLICT) {
        throw e;
      }
      forceDeleted.remove(uid); // somebody else was faster
    }
  }

  private void openGates() {
    for (Incarnation pod : history.all()) {
      PodFact fact = pod.last();
      boolean open = openGates.contains(fact.job().orElse(fact.name()));
      if (open && fact.gated() && pod.deletedAtMs().isEmpty() && opened.add(pod.uid())) {
        try {
          client
              .pods()
              .inNamespace(namespace)
              .withName(fact.name())
              .patch(
                  PatchContext.of(PatchType.JSON),
                  "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"%s\"},{\"op\":\"remove\",\"path\":\"/spec/schedulingGates\"}]"
                      .formatted(pod.uid()));
        } catch (KubernetesClientException e) {
          if (e.getCode() != 404 && e.getCode() != 422) {
            opened.remove(pod.uid());
            triedAgain.incrementAndGet();
          }
        }
      }
    }
  }

  @Override
  public void close() {
    maker.shutdownNow();
    executioner.shutdownNow();
    gatekeeper.shutdownNow();
  }
}
