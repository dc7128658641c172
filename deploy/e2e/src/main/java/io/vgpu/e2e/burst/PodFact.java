package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.Names;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.PodDemand;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one watch event says of a pod.
 *
 * @param job the Job that owns it
 * @param claim the text of {@code pre-allocated}
 * @param seal the text of {@code claim-hmac}
 * @param replaces the UID of the pod in whose place our rescheduler made it
 * @param marked whether the agent marked it as refused, or a container waits with our refusal
 * @param running names of its running containers
 * @param ended when its containers that are at their end ended, by the runtime's clock in whole
 *     seconds
 * @param brokenOff whether a kubelet that was killed broke off the start of one of its containers,
 *     or lost sight of it: such a pod has failed, but not for want of devices
 */
record PodFact(
    String uid,
    String name,
    Optional<String> job,
    Optional<String> node,
    String phase,
    String reason,
    Optional<String> claim,
    Optional<String> seal,
    Optional<String> replaces,
    boolean deleting,
    boolean gated,
    boolean marked,
    Set<String> running,
    Map<String, Instant> ended,
    boolean brokenOff,
    PodDemand demand,
    Map<String, String> annotations) {
  private static final Names NAMES = Names.DEFAULT;

  /** Reads a pod as the API server sent it. */
  static PodFact of(Pod pod) {
    Map<String, String> annotations =
        Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    Map<String, String> labels =
        Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
    var status = pod.getStatus();
    return new PodFact(
        pod.getMetadata().getUid(),
        pod.getMetadata().getName(),
        pod.getMetadata().getOwnerReferences().stream()
            .filter(o -> o.getKind().equals("Job"))
            .map(OwnerReference::getName)
            .findFirst(),
        Optional.ofNullable(pod.getSpec().getNodeName()),
        text(status.getPhase()),
        Stream.of(text(status.getReason()), text(status.getMessage()))
            .filter(s -> !s.isEmpty())
            .collect(Collectors.joining(": ")),
        Optional.ofNullable(annotations.get(NAMES.preAllocated())),
        Optional.ofNullable(annotations.get(NAMES.claimHmac())),
        Optional.ofNullable(annotations.get(Names.REPLACES)),
        pod.getMetadata().getDeletionTimestamp() != null,
        !pod.getSpec().getSchedulingGates().isEmpty(),
        "failed".equals(labels.get(NAMES.assignedPhase())) || waitsRefused(pod),
        statuses(pod)
            .filter(c -> c.getState() != null && c.getState().getRunning() != null)
            .map(ContainerStatus::getName)
            .collect(Collectors.toUnmodifiableSet()),
        statuses(pod)
            .filter(c -> finishedAt(c).isPresent())
            .collect(
                Collectors.toUnmodifiableMap(
                    ContainerStatus::getName, c -> finishedAt(c).orElseThrow())),
        statuses(pod).anyMatch(PodFact::wasBrokenOff),
        PodDemands.of(pod, NAMES),
        Map.copyOf(annotations));
  }

  boolean failed() {
    return phase.equals("Failed");
  }

  boolean succeeded() {
    return phase.equals("Succeeded");
  }

  boolean terminal() {
    return failed() || succeeded();
  }

  /** In one line, for a pod's story. */
  String line() {
    return "%s%s%s%s%s%s"
        .formatted(
            phase,
            reason.isEmpty() ? "" : " (" + reason + ")",
            node.map(n -> " on " + n).orElse(", unbound"),
            gated ? ", gated" : "",
            deleting ? ", being deleted" : "",
            marked ? ", marked as refused" : "")
        .concat(running.isEmpty() ? "" : ", running " + running.stream().sorted().toList());
  }

  private static boolean wasBrokenOff(ContainerStatus c) {
    var end = c.getState() == null ? null : c.getState().getTerminated();
    return end != null
        && (text(end.getReason()).equals("ContainerStatusUnknown")
            || text(end.getReason()).equals("StartError")
                && text(end.getMessage()).contains("context canceled"));
  }

  private static Optional<Instant> finishedAt(ContainerStatus c) {
    var end = c.getState() == null ? null : c.getState().getTerminated();
    return end == null || end.getFinishedAt() == null
        ? Optional.empty() // lost sight of: nobody knows when
        : Optional.of(Instant.parse(end.getFinishedAt()));
  }

  private static boolean waitsRefused(Pod pod) {
    return statuses(pod)
        .filter(c -> c.getState() != null && c.getState().getWaiting() != null)
        .anyMatch(c -> text(c.getState().getWaiting().getMessage()).contains("check failed"));
  }

  private static Stream<ContainerStatus> statuses(Pod pod) {
    return Stream.concat(
        pod.getStatus().getInitContainerStatuses().stream(),
        pod.getStatus().getContainerStatuses().stream());
  }

  private static String text(@Nullable String text) {
    return text == null ? "" : text;
  }
}
