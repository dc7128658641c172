package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.control.cluster.GangKey;
import io.vgpu.control.cluster.PodTraits;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Takes from a pod whom it belongs to (control-plane.md 2.2, 4.2). Pure. */
final class TraitsReader {
  private static final List<String> GANG_LABELS =
      List.of("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io/name");
  private static final List<String> GANG_ANNOTATIONS =
      List.of(
          "scheduling.k8s.io/group-name",
          "scheduling.volcano.sh/group-name",
          "gang.scheduling.koordinator.sh/name");
  private static final String MIRROR = "kubernetes.io/config.mirror";

  private TraitsReader() {}

  static PodTraits read(Pod pod) {
    ObjectMeta meta = pod.getMetadata() == null ? new ObjectMeta() : pod.getMetadata();
    Optional<OwnerReference> controller =
        owners(meta).stream().filter(o -> Boolean.TRUE.equals(o.getController())).findFirst();
    return new PodTraits(
        pod.getSpec() == null ? null : pod.getSpec().getPriority(),
        map(meta.getAnnotations()).containsKey(MIRROR),
        controller.filter(o -> "DaemonSet".equals(o.getKind())).isPresent(),
        gang(pod, meta),
        controller.map(OwnerReference::getUid).orElse(""),
        seconds(meta.getCreationTimestamp()),
        map(meta.getLabels()));
  }

  private static String gang(Pod pod, ObjectMeta meta) {
    String namespace = meta.getNamespace() == null ? "" : meta.getNamespace();
    Map<String, String> labels = map(meta.getLabels());
    Map<String, String> annotations = map(meta.getAnnotations());
    return Stream.of(
            Stream.of(schedulingGroup(pod)),
            GANG_LABELS.stream().map(k -> labels.getOrDefault(k, "")),
            GANG_ANNOTATIONS.stream().map(k -> annotations.getOrDefault(k, "")),
            owners(meta).stream()
                .filter(o -> "PodGroup".equals(o.getKind()))
                .map(OwnerReference::getName))
        .flatMap(s -> s)
        .map(reference -> GangKey.of(namespace, reference))
        .filter(key -> !key.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** {@code spec.schedulingGroup.podGroupName}, which the client's model does not know by name. */
  private static String schedulingGroup(Pod pod) {
    Object group =
        pod.getSpec() == null
            ? null
            : pod.getSpec().getAdditionalProperties().get("schedulingGroup");
    return group instanceof Map<?, ?> fields && fields.get("podGroupName") instanceof String name
        ? name
        : "";
  }

  private static List<OwnerReference> owners(ObjectMeta meta) {
    return meta.getOwnerReferences() == null ? List.of() : meta.getOwnerReferences();
  }

  private static long seconds(@Nullable String time) {
    try {
      return time == null ? 0 : Instant.parse(time).getEpochSecond();
    } catch (DateTimeParseException e) {
      return 0; // only an order among equals hangs on it
    }
  }

  private static Map<String, String> map(@Nullable Map<String, String> value) {
    return value == null ? Map.of() : value;
  }
}
