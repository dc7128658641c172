package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.agent.deviceplugin.Seen.Newness;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Who is being admitted (D3, identity-facts.md 1). No call of the device plugin API names a pod,
 * but the kubelet admits one pod at a time, and lists just that one without devices. Pure.
 */
final class AdmittedPod {
  /** The container whose turn it is. */
  record Admitted(NodePod pod, Turn turn) {}

  /** The question: how many ids, and which of them the kubelet insists on. */
  record Question(int size, Set<String> mustInclude) {}

  /** The answer, where it was looked for, and the UIDs of everybody who stands without devices. */
  record Search(Outcome<Admitted> outcome, PodView view, Set<String> waiting) {}

  private AdmittedPod() {}

  /** The one pod and container that the kubelet can be asking for, or why that cannot be said. */
  static Search find(PodView view, Ledger ledger, Seen seen, Question question) {
    List<Admitted> candidates = candidates(view, (pod, l) -> turns(pod, l, ledger, question));
    if (candidates.isEmpty()) {
      candidates = candidates(view, (pod, l) -> begunAnew(pod, ledger, question));
    }
    Set<String> waiting =
        candidates.stream().map(a -> a.pod().ref().uid()).collect(Collectors.toSet());
    return new Search(one(candidates, view, ledger, seen, question), view, waiting);
  }

  private static Outcome<Admitted> one(
      List<Admitted> candidates, PodView view, Ledger ledger, Seen seen, Question question) {
    if (candidates.isEmpty()) {
      return Outcome.refused(
          Reason.POD_UNKNOWN,
          "none of the kubelet's " + view.listed().size() + " pods waits for vGPU devices");
    }
    List<Admitted> news = of(Newness.NEW, candidates, view, seen);
    List<Admitted> perhaps = of(Newness.PERHAPS, candidates, view, seen);
    if (news.isEmpty() && seen.hasUnknownNews(view)) {
      return Outcome.refused(Reason.POD_UNKNOWN, "the kubelet lists a pod that nobody knows yet");
    }
    if (!perhaps.isEmpty() && !view.fromKubelet() && seen.byKubelet()) {
      return Outcome.refused(
          Reason.POD_UNKNOWN,
          "the kubelet's port does not answer, and the API cannot tell which pod of its name the"
              + " kubelet means: "
              + text(perhaps));
    }
    // whoever is new; nobody being so, whoever was last
    List<Admitted> left =
        news.isEmpty() && perhaps.isEmpty()
            ? dropWhile(candidates, a -> !seen.comesNext(a))
            : candidates.stream()
                .filter(
                    a ->
                        news.contains(a)
                            || perhaps.contains(a)
                            || !perhaps.isEmpty() && seen.comesNext(a))
                .toList();
    // who asks for another number of devices cannot be the one
    left = dropWhile(left, a -> a.turn().number() != question.size());
    if (left.stream().noneMatch(a -> a.turn().number() == question.size()) && !alone(left, news)) {
      return Outcome.refused(
          Reason.POD_UNKNOWN,
          "the kubelet asks for %d devices, which none of those does who wait: %s"
              .formatted(question.size(), text(left)));
    }
    left = dropRefused(left, ledger);
    left = dropWhoeverMayRun(left, ledger);
    left = dropWhile(left, a -> a.pod().terminal());
    left = dropWhile(left, a -> a.pod().deleting());
    if (left.size() > 1) {
      PodRef one = left.getFirst().pod().ref();
      return left.stream().allMatch(a -> a.pod().ref().equals(one))
          ? Outcome.refused(one, Reason.POD_AMBIGUOUS, text(left))
          : Outcome.refused(Reason.POD_AMBIGUOUS, text(left));
    }
    return Outcome.given(left.getFirst());
  }

  private static List<Admitted> of(
      Newness newness, List<Admitted> candidates, PodView view, Seen seen) {
    return candidates.stream().filter(a -> seen.newness(a.pod(), view) == newness).toList();
  }

  /** Whether a single pod is new, so that the question is for it whatever it says. */
  private static boolean alone(List<Admitted> left, List<Admitted> news) {
    return left.size() == 1 && news.size() == 1;
  }

  private static String text(List<Admitted> candidates) {
    return candidates.stream()
        .map(a -> a.pod().ref() + " container " + a.turn().container())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /**
   * A kubelet that restarted passes over what runs. So among several that are new, it asks for the
   * one with a container that cannot be running: it would not have passed over that one.
   */
  private static List<Admitted> dropWhoeverMayRun(List<Admitted> candidates, Ledger ledger) {
    Set<String> certain =
        candidates.stream()
            .filter(a -> !mayRun(a.pod(), a.turn(), ledger.entry(a.pod().ref().uid())))
            .map(a -> a.pod().ref().uid())
            .collect(Collectors.toSet());
    return dropWhile(candidates, a -> !certain.contains(a.pod().ref().uid()));
  }

  private static List<Admitted> candidates(
      PodView view, BiFunction<NodePod, ListedPod, List<Turn>> turns) {
    List<Admitted> candidates = new ArrayList<>();
    for (ListedPod l : view.listed()) {
      for (NodePod pod : view.named(l)) {
        turns.apply(pod, l).forEach(t -> candidates.add(new Admitted(pod, t)));
      }
    }
    return candidates;
  }

  private static List<Admitted> dropRefused(List<Admitted> candidates, Ledger ledger) {
    return dropWhile(candidates, a -> ledger.isRefused(a.pod().ref().uid()));
  }

  /** Without those that match, unless that would leave nobody. */
  private static List<Admitted> dropWhile(List<Admitted> candidates, Predicate<Admitted> drop) {
    List<Admitted> kept = candidates.stream().filter(drop.negate()).toList();
    return kept.isEmpty() ? candidates : kept;
  }

  /**
   * The containers that the kubelet can be asking for: the pod's next vGPU container without
   * devices, init containers first, then app containers, in spec order. The list never shows
   * sequential init containers: our own memory tells which are done. A kubelet that restarted asks
   * anew for what it forgot, but passes over what runs; where the status may not have caught up
   * with a start, there are two answers.
   */
  static List<Turn> turns(NodePod pod, ListedPod line, Ledger ledger, Question question) {
    List<Turn> order = PodEntry.turns(pod.demand());
    Optional<PodEntry> entry = ledger.entry(pod.ref().uid());
    boolean forgotten = hasForgotten(line, order, entry, question);
    List<Turn> possible = new ArrayList<>();
    for (int i = 0; i < order.size(); i++) {
      Turn t = order.get(i);
      boolean has =
          t.kind() == ContainerKind.INIT
              ? initHas(pod, line, order.subList(i + 1, order.size()), t, entry) && !forgotten
              : !line.of(t.container()).isEmpty();
      if (!has) {
        possible.add(t);
        if (!mayRun(pod, t, entry)) {
          break;
        }
      }
    }
    return possible;
  }

  /**
   * Whether the container may run now: it was started once, or the kubelet asked before a start
   * that the status does not show yet. Of an init container the status tells that it is over.
   */
  private static boolean mayRun(NodePod pod, Turn t, Optional<PodEntry> entry) {
    boolean started = pod.started().contains(t.container());
    return t.kind() == ContainerKind.INIT && started
        ? pod.running().contains(t.container())
        : started || entry.map(e -> e.asked(t.container())).orElse(false);
  }

  /** By our memory; without one, a pod that lists devices of a later container is past its init. */
  private static boolean initHas(
      NodePod pod, ListedPod line, List<Turn> later, Turn init, Optional<PodEntry> entry) {
    return entry.map(e -> e.attached(init.container())).orElse(false)
        || entry.isEmpty()
            && (pod.started().contains(init.container())
                || later.stream()
                    .anyMatch(
                        t -> t.kind() != ContainerKind.INIT && !line.of(t.container()).isEmpty()));
  }

  /**
   * A question that insists on nothing while we know of reusable ids: the kubelet died between our
   * answer and its own note of it, or lost its notes, and begins this pod anew.
   */
  private static boolean hasForgotten(
      ListedPod line, List<Turn> order, Optional<PodEntry> entry, Question question) {
    return question.mustInclude().isEmpty()
        && entry.isPresent()
        && order.stream()
            .filter(
                t ->
                    t.kind() == ContainerKind.INIT
                        ? !entry.get().attached(t.container())
                        : line.of(t.container()).isEmpty())
            .findFirst()
            .map(t -> !entry.get().reusableBefore(t.container()).isEmpty())
            .orElse(false);
  }

  /**
   * A pod whose only vGPU containers are init containers, all done by our records, looks like one
   * that has its devices: it is only thought of when nobody else waits.
   */
  private static List<Turn> begunAnew(NodePod pod, Ledger ledger, Question question) {
    List<Turn> order = PodEntry.turns(pod.demand());
    boolean candidate =
        order.stream().allMatch(t -> t.kind() == ContainerKind.INIT)
            && question.mustInclude().isEmpty()
            && !pod.hasStarted()
            && ledger.entry(pod.ref().uid()).isPresent();
    return candidate ? order.stream().limit(1).toList() : List.of();
  }
}
