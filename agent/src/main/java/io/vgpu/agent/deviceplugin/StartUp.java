package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.AdmittedPod.Question;
import io.vgpu.agent.deviceplugin.PodEntry.Stage;
import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an agent must make good before the kubelet may ask it (D21): notes that the checkpoint lost,
 * region files that a reboot took away, and pods that were admitted while nobody served the
 * resource. Runs under the lock of the {@link Books}; blocks within the deadline.
 */
final class StartUp {
  private static final Logger log = LoggerFactory.getLogger(StartUp.class);

  private static final Question NOBODY_ASKS = new Question(0, Set.of(""));

  private final Books books;
  private final PodViews views;
  private final ClaimResolver resolver;
  private final ContainerFiles files;
  private final FailureMarker failure;
  private final KubeletLife kubelet;
  private volatile boolean looked;

  StartUp(
      Books books,
      PodViews views,
      ClaimResolver resolver,
      ContainerFiles files,
      FailureMarker failure,
      KubeletLife kubelet) {
    this.books = books;
    this.views = views;
    this.resolver = resolver;
    this.files = files;
    this.failure = failure;
    this.kubelet = kubelet;
  }

  /** Whether the node was looked at once: what was missed before the start is known. */
  boolean hasLooked() {
    return looked;
  }

  /** Takes from the kubelet's list what our notes lack, and notes who stands without devices. */
  void lookAround(Deadline deadline) {
    switch (views.look(deadline)) {
      case Outcome.Refused<PodView> r ->
          log.info("the kubelet cannot be asked yet [cause: {}]", r.detail());
      case Outcome.Given<PodView>(PodView view) -> {
        addWhatIsMissing(view, deadline);
        note(view);
        looked = true;
      }
    }
  }

  /** Only the notes, for a container that starts and that nobody remembers. */
  void rebuild(Deadline deadline) {
    if (views.look(deadline) instanceof Outcome.Given<PodView>(PodView view)) {
      addWhatIsMissing(view, deadline);
    }
  }

  /** Makes the region files of every container that may run; complete ones are left as they are. */
  void restoreFiles(Deadline deadline) {
    books.ledger().standing().forEach(entry -> restoreFiles(entry, deadline));
  }

  /** The same pod by pod, while the kubelet may ask: its questions come in between. */
  void takeOverFiles(Duration each, LongSupplier nanoTime) {
    for (PodEntry then : books.ledger().standing()) {
      Outcome<Boolean> done =
          books.alone(
              Deadline.in(each, nanoTime),
              d -> {
                // as it is now: it may have ended since
                books.ledger().standing().stream()
                    .filter(e -> e.pod().equals(then.pod()))
                    .forEach(e -> restoreFiles(e, d));
                return Outcome.given(true);
              });
      if (done instanceof Outcome.Refused<Boolean> r) {
        log.error("region files not taken over [pod: {}, cause: {}]", then.pod(), r.text());
      }
    }
  }

  private void restoreFiles(PodEntry entry, Deadline deadline) {
    for (Turn t : entry.order()) {
      Optional<ContainerClaim> claim = entry.claimOf(t.container());
      if (entry.attached(t.container()) && claim.isPresent()) {
        if (files.attach(entry, claim.get(), deadline)
            instanceof Outcome.Refused<ContainerFiles.Attached> r) {
          log.error(
              "region files not restored [pod: {}, container: {}, cause: {}]",
              entry.pod(),
              t.container(),
              r.text());
        }
      }
    }
  }

  private void addWhatIsMissing(PodView view, Deadline deadline) {
    Ledger ledger = books.ledger();
    for (ListedPod line : view.listed()) {
      for (Map.Entry<String, Set<String>> c : line.devices().entrySet()) {
        if (!c.getValue().isEmpty()) {
          ledger = withContainer(ledger, view, line, c.getKey(), c.getValue());
        }
      }
    }
    if (books.commit(ledger, deadline) instanceof Outcome.Refused<Ledger> r) {
      log.error("rebuilt notes not written [cause: {}]", r.detail());
    }
  }

  private Ledger withContainer(
      Ledger ledger, PodView view, ListedPod line, String container, Set<String> ids) {
    for (NodePod pod : view.named(line)) {
      String uid = pod.ref().uid();
      if (pod.terminal()
          || ledger.entry(uid).map(e -> e.attached(container)).orElse(false)
          || isHeld(ledger, ids, uid)) {
        continue;
      }
      if (resolver.sealed(pod, container) instanceof Outcome.Given<PodClaim>(PodClaim claim)
          && claim.of(container).map(c -> fits(c, ids)).orElse(false)) {
        log.warn(
            "note of a container restored from the kubelet [pod: {}, container: {}, ids: {}]",
            pod.ref(),
            container,
            ids);
        return ledger.with(
            resolver
                .entry(pod, claim, ledger)
                .with(container, ids, Stage.ATTACHED)
                .asAsked(container));
      }
    }
    return ledger;
  }

  private static boolean isHeld(Ledger ledger, Set<String> ids, String uid) {
    return ids.stream().anyMatch(id -> ledger.heldByAnother(id, uid));
  }

  private boolean fits(ContainerClaim claim, Set<String> ids) {
    Set<GpuUuid> cards = new HashSet<>();
    ids.forEach(id -> DeviceIds.gpu(id).ifPresent(cards::add));
    return claim.devices().size() == ids.size()
        && (!resolver.honor() || cards.equals(new HashSet<>(claim.uuids())));
  }

  /**
   * While the kubelet cannot ask us, whoever it lists without devices is not being admitted, or
   * will be refused. Without an answer in time nothing is noted. Any virtual thread.
   */
  void noteWhoWaits(Deadline deadline) {
    if (views.lookInMemory(deadline) instanceof Outcome.Given<PodView>(PodView view)) {
      note(view);
    } else {
      kubelet.changed(s -> Seen.NOTHING);
    }
  }

  private void note(PodView view) {
    Set<String> waiting = new HashSet<>();
    for (NodePod pod : view.pods()) {
      boolean lacks =
          view.line(pod)
              .map(l -> !AdmittedPod.turns(pod, l, books.ledger(), NOBODY_ASKS).isEmpty())
              .orElse(false);
      if (lacks) {
        waiting.add(pod.ref().uid());
      }
    }
    kubelet.changed(s -> s.anew(view, waiting, kubelet.now()));
  }

  /**
   * Reports pods that the kubelet admitted without devices, because the resource was not registered
   * or its checkpoint was lost: they run without, or wait for ever to start ("no devices found
   * allocated"). A pod that runs on what we noted is left alone. {@code past}: who has waited so
   * long that nobody is reported who is only just being admitted.
   */
  void reportUnserved(PodView view, Set<String> past) {
    for (NodePod pod : view.pods()) {
      String uid = pod.ref().uid();
      Optional<ListedPod> line = view.line(pod);
      if (books.ledger().isRefused(uid) || pod.terminal() || pod.deleting() || line.isEmpty()) {
        continue;
      }
      boolean isPast = past.contains(uid);
      PodEntry.turns(pod.demand()).stream()
          .filter(t -> isUnserved(pod, t, line.get(), isPast))
          .findFirst()
          .ifPresent(t -> report(pod, t.container()));
    }
  }

  private boolean isUnserved(NodePod pod, Turn t, ListedPod line, boolean isPast) {
    Optional<PodEntry> entry = books.ledger().entry(pod.ref().uid());
    boolean ours = entry.map(e -> e.attached(t.container())).orElse(false);
    boolean started = pod.started().contains(t.container());
    if (ours && started && !entry.map(e -> e.asked(t.container())).orElse(false)) {
      return true; // the kubelet never asked before it: started without its devices
    }
    if (t.kind() == ContainerKind.INIT || !line.of(t.container()).isEmpty()) {
      return false;
    }
    if (pod.running().contains(t.container())) {
      return !ours;
    }
    return !ours && started || isPast;
  }

  private void report(NodePod pod, String container) {
    if (!failure.unseen(pod, Reason.RUNS_WITHOUT_DEVICES, "container " + container)) {
      log.debug("pod without devices is marked already [pod: {}]", pod.ref());
    }
  }
}
