package io.vgpu.e2e.burst;

import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodClaim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Judges one answer of the kubelet's pod-resources API: no device id in two containers, and each
 * container's ids are of the cards that its pod claims. A lost kubelet checkpoint excuses that ids
 * are missing ({@link Gap}), never that they are doubled or wrong. Pure.
 */
final class DeviceAudit {
  /** The kubelet was seen some seconds behind the API, and may be down for a while. */
  private static final long KUBELET_LAG_MS = 30_000;

  private final PodHistory history;

  DeviceAudit(PodHistory history) {
    this.history = history;
  }

  /** A container that ran, by the API's word, before the kubelet was asked. */
  record Running(String uid, String pod, String container) {}

  /** The containers that run now and whose ids must therefore be in the kubelet's next answer. */
  List<Running> running() {
    return history.all().stream()
        .filter(p -> p.holds() && !p.last().deleting() && p.claim().isPresent())
        .flatMap(
            p ->
                p.last().demand().vgpuContainers().stream()
                    // the kubelet never lists sequential init containers
                    .filter(c -> c.kind() != ContainerKind.INIT)
                    .filter(c -> p.last().running().contains(c.name()))
                    .map(c -> new Running(p.uid(), p.name(), c.name())))
        .toList();
  }

  /** Doubled and foreign ids in the kubelet's answer: the namespace's pods as it listed them. */
  List<Finding> check(List<ListedPod> listed, long nowMs) {
    List<Finding> findings = new ArrayList<>();
    doubles(listed, findings);
    for (ListedPod pod : listed) {
      pod.devices().forEach((container, ids) -> cards(pod.name(), container, ids, nowMs, findings));
    }
    return findings;
  }

  /** Of those that ran before the kubelet was asked: whose ids are missing in its answer. */
  List<Running> missing(List<ListedPod> listed, List<Running> before) {
    return before.stream().filter(r -> isMissing(r, listed)).toList();
  }

  private static void doubles(List<ListedPod> listed, List<Finding> findings) {
    Map<String, String> holder = new HashMap<>();
    for (ListedPod pod : listed) {
      pod.devices()
          .forEach(
              (container, ids) -> {
                for (String id : ids) {
                  String here = pod.name() + "/" + container;
                  String other = holder.putIfAbsent(id, here);
                  if (other != null) {
                    findings.add(
                        Finding.of(
                            Check.IDS, "device id " + id + " is in " + other + " and in " + here));
                  }
                }
              });
    }
  }

  private void cards(
      String pod, String container, Set<String> ids, long nowMs, List<Finding> findings) {
    if (ids.isEmpty()) {
      return;
    }
    List<String> held = ids.stream().map(DeviceAudit::card).sorted().toList();
    List<Incarnation> alive =
        history.named(pod).stream()
            .filter(p -> p.deletedAtMs().map(at -> nowMs - at <= KUBELET_LAG_MS).orElse(true))
            .toList();
    boolean right =
        alive.stream().flatMap(p -> claimed(p, container)).anyMatch(cards -> cards.equals(held));
    if (!right) {
      String text =
          "the kubelet holds %s for %s/%s, claims are %s"
              .formatted(
                  ids.stream().sorted().toList(),
                  pod,
                  container,
                  alive.stream().flatMap(p -> claimed(p, container)).toList());
      findings.add(
          alive.isEmpty()
              ? Finding.of(Check.IDS, text)
              : Finding.about(Check.IDS, alive.getLast().uid(), text));
    }
  }

  private static Stream<List<String>> claimed(Incarnation pod, String container) {
    Optional<ContainerClaim> claim = pod.claim().flatMap((PodClaim c) -> c.of(container));
    return claim.stream().map(c -> c.uuids().stream().map(Objects::toString).sorted().toList());
  }

  private boolean isMissing(Running running, List<ListedPod> listed) {
    List<ListedPod> entries = listed.stream().filter(p -> p.name().equals(running.pod())).toList();
    // not listed: it has ended meanwhile; several of one name: nothing says which is which
    return entries.size() == 1
        && entries.getFirst().of(running.container()).isEmpty()
        && history.named(running.pod()).getLast().uid().equals(running.uid());
  }

  /**
   * Missing ids are a breach, but not of pods that were bound before a gap ended, nor of containers
   * that, as it turned out, had ended before: the API may hear of that many seconds late.
   *
   * @param missing who lacked ids, and since when
   */
  List<Finding> missing(Map<Running, Instant> missing, Optional<Gap> gap) {
    return missing.entrySet().stream()
        .filter(e -> !hadEnded(e.getKey(), e.getValue()))
        .map(Map.Entry::getKey)
        .filter(r -> !isExcused(r, gap))
        .map(
            r ->
                Finding.about(
                    Check.IDS,
                    r.uid(),
                    "container %s/%s runs, but the kubelet knows no device of it"
                        .formatted(r.pod(), r.container())))
        .toList();
  }

  /** The runtime's seconds are whole: 5 is any moment up to 6. */
  private boolean hadEnded(Running running, Instant at) {
    return history
        .byUid(running.uid())
        .map(p -> p.last().ended().get(running.container()))
        .filter(end -> !end.isAfter(at))
        .isPresent();
  }

  private boolean isExcused(Running running, Optional<Gap> gap) {
    Optional<Long> boundAtMs = history.byUid(running.uid()).flatMap(Incarnation::boundAtMs);
    return gap.isPresent() && boundAtMs.filter(at -> gap.get().mayLackIds(at)).isPresent();
  }

  /** The card of a device id {@code UUID::slot}. */
  private static String card(String id) {
    int at = id.indexOf("::");
    return at < 0 ? id : id.substring(0, at);
  }
}
