package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.agent.shim.Libraries;
import io.vgpu.agent.shim.ShimWriter;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.claim.Names;
import io.vgpu.event.VgpuEvent.ClaimReleased;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.Reason;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings our notes and files in line with who is still there: what a pod held is given up when
 * neither the API nor the kubelet knows the pod, never by age. It also hands success marks over
 * again that did not get through. Looks every 5 s and when told that a pod went; a virtual thread
 * of its own.
 */
final class Reconciler {
  private static final Logger log = LoggerFactory.getLogger(Reconciler.class);
  private static final Duration LOOK = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** While we look, nobody is answered: less than the kubelet's questions may wait. */
  private static final Duration LOOK_AROUND = Duration.ofSeconds(1);

  /** A pod that just went takes its containers with it a moment later; looks are not a loop. */
  private static final Duration SETTLE = Duration.ofMillis(200);

  /** Longer than any of our answers to the kubelet takes. */
  private static final Duration NO_LONGER_ADMITTED = Duration.ofSeconds(3);

  private final String node;
  private final Names names;
  private final Books books;
  private final PodViews views;
  private final NodePods nodePods;
  private final ShimWriter shim;
  private final Libraries libraries;
  private final SuccessMarker success;
  private final StartUp startUp;
  private final KubeletLife kubelet;
  private final Stranded stranded;
  private final EventBusPort bus;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Semaphore news = new Semaphore(0);
  private volatile boolean stopped;
  private boolean librariesTidy;
  private @Nullable Thread thread;

  Reconciler(
      String node,
      Names names,
      Books books,
      PodViews views,
      NodePods nodePods,
      ShimWriter shim,
      Libraries libraries,
      SuccessMarker success,
      StartUp startUp,
      KubeletLife kubelet,
      Stranded stranded,
      EventBusPort bus,
      Clock clock,
      LongSupplier nanoTime) {
    this.node = node;
    this.names = names;
    this.books = books;
    this.views = views;
    this.nodePods = nodePods;
    this.shim = shim;
    this.libraries = libraries;
    this.success = success;
    this.startUp = startUp;
    this.kubelet = kubelet;
    this.stranded = stranded;
    this.bus = bus;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  void start() {
    thread = Thread.ofVirtual().name("reconciler").start(this::run);
  }

  /** Ends within a second. */
  void stop() {
    stopped = true;
    Thread running = thread;
    if (running != null) {
      running.interrupt();
      try {
        running.join(Duration.ofSeconds(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A pod ceased to exist: look soon. */
  void look() {
    news.release();
  }

  private void run() {
    try {
      while (!stopped) {
        if (news.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
          LockSupport.parkNanos(SETTLE.toNanos());
          news.drainPermits();
        }
        reconcile();
      }
    } catch (InterruptedException e) {
      log.debug("reconciler ends");
    }
  }

  /** One look; what cannot be told now is left for the next. */
  void reconcile() {
    Deadline deadline = Deadline.in(PATIENCE, nanoTime);
    if (!startUp.hasLooked()) {
      Outcome<Boolean> unused =
          books.alone(
              Deadline.in(LOOK_AROUND, nanoTime),
              d -> {
                startUp.lookAround(d);
                startUp.restoreFiles(d);
                return Outcome.given(true);
              });
    }
    if (kubelet.seen().listed().isEmpty()) {
      // the look before the registration came to nothing, and nobody was asked for since
      Outcome<Boolean> unused =
          books.alone(
              Deadline.in(LOOK_AROUND, nanoTime),
              d -> {
                startUp.noteWhoWaits(d);
                return Outcome.given(true);
              });
    }
    // in this order: what is noted after our look at the notes cannot be taken for stale
    Ledger before = books.ledger();
    Outcome<Set<Owner>> owners =
        deadline.await(shim.owners(), Reason.FILES_NOT_WRITTEN, "owners of region files");
    if (nodePods.synced() && views.look(deadline) instanceof Outcome.Given<PodView>(PodView view)) {
      startUp.reportUnserved(
          view, kubelet.seen().waitingSince(kubelet.now() - NO_LONGER_ADMITTED.toNanos()));
      stranded.report(view, uid -> before.entry(uid).isPresent(), kubelet.now());
      forget(before, view, deadline);
      if (owners instanceof Outcome.Given<Set<Owner>>(Set<Owner> found)) {
        sweep(found, view, deadline);
      }
    }
    before.standing().stream().filter(PodEntry::complete).forEach(this::markIfMissing);
    tidyLibraries();
  }

  private void forget(Ledger before, PodView view, Deadline deadline) {
    Set<String> gone = new LinkedHashSet<>();
    for (PodEntry e : before.pods().values()) {
      if (isGone(e.pod().uid(), e.pod().namespace(), e.pod().name(), view)) {
        gone.add(e.pod().uid());
      }
    }
    before.refused().values().stream()
        .map(Ledger.Refusal::pod)
        .filter(p -> isGone(p.uid(), p.namespace(), p.name(), view))
        .forEach(p -> gone.add(p.uid()));
    if (gone.isEmpty()) {
      return;
    }
    Set<PodEntry> released = new LinkedHashSet<>();
    Outcome<Ledger> written =
        books.alone(
            deadline,
            d -> {
              Ledger now = books.ledger();
              // an entry that changed meanwhile is somebody's who is being admitted
              gone.removeIf(uid -> !now.entry(uid).equals(before.entry(uid)));
              gone.forEach(uid -> now.entry(uid).ifPresent(released::add));
              return books.commit(now.without(gone), d);
            });
    if (written instanceof Outcome.Given<Ledger>) {
      released.forEach(e -> release(e, deadline));
    }
  }

  private boolean isGone(String uid, String namespace, String name, PodView view) {
    if (nodePods.live(uid).isPresent()
        || view.pods().stream().anyMatch(p -> p.ref().uid().equals(uid) && view.fromKubelet())) {
      return false;
    }
    return view.fromKubelet()
        || view.listed().stream()
            .noneMatch(l -> l.namespace().equals(namespace) && l.name().equals(name));
  }

  private void release(PodEntry entry, Deadline deadline) {
    librariesTidy = false;
    for (String container : entry.held().keySet()) {
      if (removed(entry.pod().uid(), container, deadline) && entry.attached(container)) {
        bus.publish(
            new ClaimReleased(clock.instant(), node, new ContainerRef(entry.pod(), container)));
        log.info("claim released [pod: {}, container: {}]", entry.pod(), container);
      }
    }
  }

  /**
   * Files of pods that nobody knows any more, such as an agent leaves that dies between two steps.
   */
  private void sweep(Set<Owner> owners, PodView view, Deadline deadline) {
    Set<String> known = new HashSet<>(books.ledger().pods().keySet());
    view.pods().stream().map(NodePod::ref).forEach(p -> known.add(p.uid()));
    nodePods.live().stream().map(NodePod::ref).forEach(p -> known.add(p.uid()));
    for (Owner o : owners) {
      if (view.fromKubelet() && !known.contains(o.podUid())) {
        boolean unused = removed(o.podUid(), o.container(), deadline);
      }
    }
  }

  private boolean removed(String podUid, String container, Deadline deadline) {
    Outcome<Void> outcome =
        deadline.await(
            shim.release(podUid, container), Reason.FILES_NOT_WRITTEN, "removing region files");
    if (outcome instanceof Outcome.Refused<Void> r) {
      log.warn(
          "region files stay for now [pod: {}, container: {}, cause: {}]",
          podUid,
          container,
          r.detail());
      return false;
    }
    return true;
  }

  /** After a start, and when a container went: it may have been the last one of its version. */
  private void tidyLibraries() {
    Optional<Set<String>> used = books.ledger().librariesInUse();
    if (librariesTidy || used.isEmpty()) {
      return;
    }
    try {
      List<String> removed = libraries.removeUnused(used.get());
      librariesTidy = true;
      if (!removed.isEmpty()) {
        log.info("libraries that no container has are removed [files: {}]", removed);
      }
    } catch (IOException e) {
      log.warn("libraries that no container has stay for now [cause: {}]", e.toString());
    }
  }

  private void markIfMissing(PodEntry entry) {
    nodePods
        .live(entry.pod().uid())
        .filter(p -> p.annotation(names.realAllocated()).isEmpty() && !p.terminal())
        .ifPresent(
            p -> {
              if (!success.allocated(entry)) {
                log.debug("success mark waits [pod: {}]", p.ref());
              }
            });
  }
}
