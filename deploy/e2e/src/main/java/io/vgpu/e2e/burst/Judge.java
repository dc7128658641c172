package io.vgpu.e2e.burst;

import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.e2e.product.ContainerView;
import io.vgpu.e2e.product.Expectation;
import io.vgpu.model.ContainerClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Judges, after a burst, what its containers printed and the order in which its pods were bound.
 * Pure.
 */
final class Judge {
  private final PodHistory history;
  private final Set<String> withoutPlugin;
  private final Optional<Gap> gap;

  /**
   * @param withoutPlugin UIDs of the pods that the kubelet admitted while no plugin existed
   * @param gap in which the kubelet started containers without a word to the plugin
   */
  Judge(PodHistory history, Set<String> withoutPlugin, Optional<Gap> gap) {
    this.history = history;
    this.withoutPlugin = Set.copyOf(withoutPlugin);
    this.gap = gap;
  }

  /** Every container that has printed everything sees exactly its claim, by UID. */
  List<Finding> claims(List<Print> prints) {
    List<Finding> findings = new ArrayList<>();
    for (Print print : prints) {
      print.view().ifPresent(view -> claim(print, view, findings));
    }
    return findings;
  }

  private void claim(Print print, ContainerView view, List<Finding> findings) {
    Optional<Incarnation> pod = history.byUid(print.uid());
    if (pod.isEmpty()) {
      findings.add(about(print, "printed, but no such pod was ever seen"));
      return;
    }
    if (withoutPlugin.contains(print.uid())) {
      if (!seesNothing(view)) {
        findings.add(about(print, "has devices though no plugin existed: " + view.raw()));
      }
      return;
    }
    if (seesNothing(view) && kubeletKnewNoPlugin(print)) {
      if (!pod.get().troubled() && !pod.get().last().terminal()) {
        findings.add(about(print, "runs without devices, and nobody noticed"));
      }
      return;
    }
    Optional<ContainerClaim> claim = pod.get().claim().flatMap(c -> c.of(print.container()));
    if (claim.isEmpty()) {
      findings.add(about(print, "runs without a claim"));
      return;
    }
    List<String> differences = new ArrayList<>(Expectation.differences(claim.get(), view));
    Map.of("VGPU_POD_UID", print.uid(), "VGPU_POD_NAME", print.pod())
        .forEach(
            (variable, wanted) -> {
              String seen = view.env().getOrDefault(variable, "(unset)");
              if (!seen.equals(wanted)) {
                differences.add(variable + " is " + seen + ", not " + wanted);
              }
            });
    if (!differences.isEmpty()) {
      findings.add(about(print, "differs from its claim: " + String.join("; ", differences)));
    }
  }

  /** Nothing of ours at all: neither a card nor a part of what comes with one. */
  private static boolean seesNothing(ContainerView view) {
    return !view.env().containsKey("NVIDIA_VISIBLE_DEVICES")
        && !view.env().containsKey("VGPU_POD_UID")
        && view.devices().isEmpty()
        && view.limits().isEmpty()
        && view.mounts().keySet().stream().noneMatch(m -> m.startsWith("/"));
  }

  /**
   * The kubelet had lost its checkpoint: then it starts containers without a word to the plugin, as
   * it did with {@code withoutPlugin}. Nobody can hinder it; the pod must be found.
   */
  private boolean kubeletKnewNoPlugin(Print print) {
    return gap.filter(g -> g.mayHaveStarted(print.seenAtMs())).isPresent();
  }

  /** The UIDs of the pods of which containers ran without devices for a lost checkpoint. */
  Set<String> withoutDevices(List<Print> prints) {
    return prints.stream()
        .filter(p -> !withoutPlugin.contains(p.uid()) && kubeletKnewNoPlugin(p))
        .filter(p -> p.view().filter(Judge::seesNothing).isPresent())
        .map(Print::uid)
        .collect(Collectors.toSet());
  }

  /** Who succeeded has printed in each of its containers: otherwise nothing was compared. */
  List<Finding> completeness(List<Print> prints) {
    Set<List<String>> printed =
        prints.stream()
            .filter(p -> p.view().isPresent())
            .map(p -> List.of(p.uid(), p.container()))
            .collect(Collectors.toSet());
    List<Finding> findings = new ArrayList<>();
    for (Incarnation pod : history.all()) {
      if (pod.succeeded()) {
        pod.last()
            .demand()
            .vgpuContainers()
            .forEach(
                c -> {
                  if (!printed.contains(List.of(pod.uid(), c.name()))) {
                    findings.add(
                        Finding.about(
                            Check.CLAIM,
                            pod.uid(),
                            "%s succeeded, but its container %s printed nothing whole"
                                .formatted(pod.name(), c.name())));
                  }
                });
      }
    }
    return findings;
  }

  /**
   * The pods were not bound in the order in which they were made; otherwise the burst cannot show
   * that the agent tells them apart.
   *
   * @param bound names in the order of their bindings, as the audit log has them
   */
  List<Finding> order(List<String> bound) {
    Map<String, Integer> first = new HashMap<>();
    for (Incarnation pod : history.all()) {
      first.putIfAbsent(pod.name(), pod.order());
    }
    if (inversions(bound, first) > 0) {
      return List.of();
    }
    return List.of(
        Finding.of(
            Check.ORDER,
            "%d pods were bound in the order of their creation".formatted(bound.size())));
  }

  /** How many neighbours in the order of binding were made the other way round. */
  long orderInversions(List<String> bound) {
    Map<String, Integer> first = new HashMap<>();
    history.all().forEach(pod -> first.putIfAbsent(pod.name(), pod.order()));
    return inversions(bound, first);
  }

  private static long inversions(List<String> bound, Map<String, Integer> creation) {
    Set<String> seen = new HashSet<>();
    List<Integer> orders =
        bound.stream().filter(seen::add).map(creation::get).filter(Objects::nonNull).toList();
    long inversions = 0;
    for (int i = 1; i < orders.size(); i++) {
      inversions += orders.get(i) < orders.get(i - 1) ? 1 : 0;
    }
    return inversions;
  }

  /** No pod was bound twice: at most as many bindings under a name as pods that bore it. */
  List<Finding> bindings(List<String> bound) {
    return bound.stream()
        .collect(Collectors.groupingBy(n -> n, Collectors.counting()))
        .entrySet()
        .stream()
        .filter(e -> e.getValue() > history.named(e.getKey()).size())
        .map(
            e ->
                Finding.of(
                    Check.CLAIM,
                    "%d bindings under the name %s, which %d pods bore"
                        .formatted(e.getValue(), e.getKey(), history.named(e.getKey()).size())))
        .toList();
  }

  /** Jobs of which no pod succeeded. */
  List<Finding> jobs(Collection<String> names) {
    return names.stream()
        .filter(n -> history.ofJob(n).stream().noneMatch(Incarnation::succeeded))
        .map(
            n ->
                Finding.of(
                    Check.SUCCESSION,
                    "Job %s did not succeed; its last pod: %s"
                        .formatted(
                            n,
                            history.ofJob(n).isEmpty()
                                ? "none"
                                : history.ofJob(n).getLast().last().line())))
        .toList();
  }

  private static Finding about(Print print, String text) {
    return Finding.about(
        Check.CLAIM,
        print.uid(),
        "container %s/%s %s".formatted(print.pod(), print.container(), text));
  }
}
