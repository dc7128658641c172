package io.vgpu.control.reschedule.kube;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.vgpu.claim.Names;
import io.vgpu.control.kube.HeldCards;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.control.reschedule.FailedPod.Phase;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.PodRef;
import io.vgpu.runtime.Durations;
import io.vgpu.runtime.UsageException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Takes from a pod what the rescheduler decides by. Pure. */
final class FailedPods {
  private static final int SYSTEM_CRITICAL = 2_000_000_000;
  private static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);
  private static final int MAX_CAUSE = 300;
  private static final int MAX_REPLACEMENTS = 1_000;

  private final Names names;
  private final CardsToLeave cards;

  FailedPods(Names names, CardsToLeave cards) {
    this.names = names;
    this.cards = cards;
  }

  FailedPod of(Pod pod) {
    ObjectMeta meta = pod.getMetadata();
    PodStatus status = pod.getStatus() == null ? new PodStatus() : pod.getStatus();
    return new FailedPod(
        new PodRef(meta.getNamespace(), meta.getName(), meta.getUid()),
        phase(status.getPhase()),
        PodDemands.of(pod, names).asksForVgpu(),
        rejected(status.getReason()) || lostItsReason(status),
        "failed".equals(labels(meta).get(names.assignedPhase())),
        meta.getDeletionTimestamp() != null,
        fixed(pod),
        owner(meta),
        time(meta.getCreationTimestamp()),
        replacements(meta),
        cause(status),
        leaves(pod));
  }

  private Optional<String> leaves(Pod pod) {
    String node = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
    return node == null
        ? Optional.empty()
        : cards.why(node, HeldCards.of(pod, names), grace(annotations(pod.getMetadata())));
  }

  /** A text that is no duration, or a shorter one than may be asked for, says nothing. */
  private Optional<Duration> grace(Map<String, String> annotations) {
    String text = annotations.get(names.stuckGracePeriod());
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Durations.parse(text)).filter(d -> d.compareTo(SHORTEST_GRACE) >= 0);
    } catch (UsageException e) {
      return Optional.empty();
    }
  }

  private static Phase phase(@Nullable String phase) {
    return switch (phase == null ? "" : phase) {
      case "Running" -> Phase.RUNNING;
      case "Succeeded" -> Phase.SUCCEEDED;
      case "Failed" -> Phase.FAILED;
      default -> Phase.PENDING;
    };
  }

  /**
   * The kubelet's words for a pod that it did not admit: Allocate failed, or the node's devices
   * were gone or unhealthy when it looked.
   */
  private boolean rejected(@Nullable String reason) {
    return reason != null
        && (reason.equals("UnexpectedAdmissionError")
            || names.resources().stream().anyMatch(r -> reason.equals("OutOf" + r)));
  }

  /**
   * The kubelet rejects a pod that it admits anew after its restart, ends its containers, and when
   * all of them end well, its next restart finds "Succeeded" beside the pod's "Failed": it keeps
   * the phase and drops the reason. No other pod is Failed though nothing failed.
   */
  private static boolean lostItsReason(PodStatus status) {
    List<ContainerStatus> containers =
        Stream.concat(
                status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
            .toList();
    return "Failed".equals(status.getPhase())
        && (status.getReason() == null || status.getReason().isEmpty())
        && !containers.isEmpty()
        && containers.stream().allMatch(FailedPods::endedWell);
  }

  private static boolean endedWell(ContainerStatus container) {
    return container.getState() != null
        && container.getState().getTerminated() != null
        && Integer.valueOf(0).equals(container.getState().getTerminated().getExitCode());
  }

  private static Optional<String> fixed(Pod pod) {
    Map<String, String> annotations = annotations(pod.getMetadata());
    if (annotations.containsKey("kubernetes.io/config.mirror")) {
      return Optional.of("mirror");
    }
    String source = annotations.getOrDefault("kubernetes.io/config.source", "api");
    if (!source.equals("api")) {
      return Optional.of("static");
    }
    Integer priority = pod.getSpec() == null ? null : pod.getSpec().getPriority();
    return priority != null && priority >= SYSTEM_CRITICAL
        ? Optional.of("critical")
        : Optional.empty();
  }

  private static Optional<Owner> owner(ObjectMeta meta) {
    return meta.getOwnerReferences().stream()
        .filter(o -> Boolean.TRUE.equals(o.getController()))
        .findFirst()
        .map(FailedPods::owner);
  }

  private static Owner owner(OwnerReference reference) {
    String version = reference.getApiVersion();
    int slash = version.indexOf('/');
    return new Owner(
        slash < 0 ? "" : version.substring(0, slash),
        reference.getKind(),
        reference.getName(),
        reference.getUid());
  }

  private static int replacements(ObjectMeta meta) {
    String text = annotations(meta).getOrDefault(Names.REPLACEMENTS, "");
    boolean number = text.length() <= 4 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    return text.isEmpty() || !number ? 0 : Math.min(Integer.parseInt(text), MAX_REPLACEMENTS);
  }

  private static Instant time(@Nullable String text) {
    return text == null ? Instant.EPOCH : Instant.parse(text);
  }

  private static String cause(PodStatus status) {
    String message = status.getMessage() == null ? "" : status.getMessage();
    return message.length() <= MAX_CAUSE ? message : message.substring(0, MAX_CAUSE) + "…";
  }

  private static Map<String, String> labels(ObjectMeta meta) {
    return meta.getLabels() == null ? Map.of() : meta.getLabels();
  }

  static Map<String, String> annotations(ObjectMeta meta) {
    return meta.getAnnotations() == null ? Map.of() : meta.getAnnotations();
  }
}
