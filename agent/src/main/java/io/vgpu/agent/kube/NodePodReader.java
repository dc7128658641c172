package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes slim records of pods, from the API's objects and from the kubelet's {@code /pods} text.
 * Pure. A pod that cannot be read is left out and logged: it must not hide the others.
 */
final class NodePodReader {
  private static final Logger log = LoggerFactory.getLogger(NodePodReader.class);
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(200)
                          .maxStringLength(4 << 20)
                          .build())
                  .build())
          // one pod is read from the middle of the list
          .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final Names names;

  NodePodReader(Names names) {
    this.names = names;
  }

  /** A pod of the API; empty when it has no name or UID. */
  Optional<NodePod> of(Pod pod) {
    try {
      var meta = pod.getMetadata();
      if (meta == null
          || meta.getNamespace() == null
          || meta.getName() == null
          || meta.getUid() == null) {
        return Optional.empty();
      }
      PodState state = state(pod);
      return Optional.of(
          new NodePod(
              new PodRef(meta.getNamespace(), meta.getName(), meta.getUid()),
              pod.getSpec() == null ? "" : text(pod.getSpec().getNodeName()),
              ours(meta.getAnnotations()),
              ours(meta.getLabels()),
              PodDemands.of(pod, names),
              state.phase(),
              meta.getDeletionTimestamp() != null,
              state.ids(),
              state.running(),
              state.stranded()));
    } catch (IllegalArgumentException e) {
      log.warn("pod left out, it cannot be read [cause: {}]", e.getMessage());
      return Optional.empty();
    }
  }

  private static PodState state(Pod pod) {
    PodStatus status = pod.getStatus() == null ? new PodStatus() : pod.getStatus();
    return new PodState(
        pod.getSpec() == null ? "" : text(pod.getSpec().getRestartPolicy()),
        text(status.getPhase()),
        status.getConditions().stream()
            .anyMatch(
                c ->
                    PodState.SANDBOX_CONDITION.equals(c.getType())
                        && "False".equals(c.getStatus())),
        Stream.concat(
                status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
            .map(
                c ->
                    new PodState.ContainerState(
                        text(c.getName()),
                        text(c.getContainerID()),
                        c.getState() != null && c.getState().getRunning() != null))
            .toList());
  }

  private static String text(@Nullable String value) {
    return Objects.requireNonNullElse(value, "");
  }

  private Map<String, String> ours(@Nullable Map<String, String> all) {
    Map<String, String> kept = new HashMap<>();
    if (all != null) {
      all.forEach(
          (key, value) -> {
            if (value != null && NodePod.isRead(key, names)) {
              kept.put(key, value);
            }
          });
    }
    return kept;
  }

  /**
   * The kubelet's {@code PodList}, one pod in memory at a time. Throws {@link FormatException} when
   * it is no such list.
   */
  List<NodePod> podList(String json) {
    List<NodePod> pods = new ArrayList<>();
    boolean seen = false;
    try (JsonParser p = JSON.createParser(json)) {
      if (p.nextToken() != JsonToken.START_OBJECT) {
        throw new FormatException("pod list: must be a JSON object");
      }
      while (p.nextToken() == JsonToken.PROPERTY_NAME) {
        String field = p.currentName();
        JsonToken value = p.nextToken();
        if (!field.equals("items")) {
          p.skipChildren();
        } else if (value == JsonToken.START_ARRAY) {
          seen = true;
          while (p.nextToken() != JsonToken.END_ARRAY) {
            JsonNode pod = JSON.readTree(p);
            of(pod).ifPresent(pods::add);
          }
        } else {
          seen = value == JsonToken.VALUE_NULL; // Go writes an empty list as null
          p.skipChildren();
        }
      }
    } catch (JacksonException e) {
      throw new FormatException("pod list: not JSON: " + e.getOriginalMessage(), e);
    }
    if (!seen) {
      throw new FormatException("pod list: items: is missing");
    }
    return pods;
  }

  private Optional<NodePod> of(JsonNode pod) {
    try {
      JsonNode meta = pod.path("metadata");
      JsonNode spec = pod.path("spec");
      PodState state = state(spec, pod.path("status"));
      return Optional.of(
          new NodePod(
              new PodRef(
                  text(meta.path("namespace")), text(meta.path("name")), text(meta.path("uid"))),
              text(spec.path("nodeName")),
              ours(strings(meta.path("annotations"))),
              ours(strings(meta.path("labels"))),
              demand(spec),
              state.phase(),
              !text(meta.path("deletionTimestamp")).isEmpty(),
              state.ids(),
              state.running(),
              state.stranded()));
    } catch (IllegalArgumentException | ArithmeticException e) {
      log.warn("pod of the kubelet left out, it cannot be read [cause: {}]", e.getMessage());
      return Optional.empty();
    }
  }

  private static PodState state(JsonNode spec, JsonNode status) {
    List<PodState.ContainerState> containers = new ArrayList<>();
    for (String kind : List.of("initContainerStatuses", "containerStatuses")) {
      for (JsonNode c : status.path(kind)) {
        containers.add(
            new PodState.ContainerState(
                text(c.path("name")),
                text(c.path("containerID")),
                c.path("state").path("running").isObject()));
      }
    }
    return new PodState(
        text(spec.path("restartPolicy")),
        text(status.path("phase")),
        status
            .path("conditions")
            .valueStream()
            .anyMatch(
                c ->
                    text(c.path("type")).equals(PodState.SANDBOX_CONDITION)
                        && text(c.path("status")).equals("False")),
        containers);
  }

  private PodDemand demand(JsonNode spec) {
    return PodDemands.of(
        new PodBuilder()
            .withNewSpec()
            .withInitContainers(containers(spec.path("initContainers")))
            .withContainers(containers(spec.path("containers")))
            .endSpec()
            .build(),
        names);
  }

  private List<Container> containers(JsonNode list) {
    List<Container> containers = new ArrayList<>();
    for (JsonNode c : list) {
      Map<String, Quantity> limits = new HashMap<>();
      JsonNode given = c.path("resources").path("limits");
      for (String resource : names.resources()) {
        JsonNode value = given.path(resource);
        if (value.isString() || value.isNumber()) {
          limits.put(resource, new Quantity(value.asString()));
        }
      }
      containers.add(
          new ContainerBuilder()
              .withName(text(c.path("name")))
              .withRestartPolicy(text(c.path("restartPolicy")))
              .withResources(new ResourceRequirementsBuilder().withLimits(limits).build())
              .build());
    }
    return containers;
  }

  private static Map<String, String> strings(JsonNode object) {
    Map<String, String> map = new HashMap<>();
    for (Map.Entry<String, JsonNode> e : object.properties()) {
      if (e.getValue().isString()) {
        map.put(e.getKey(), e.getValue().stringValue());
      }
    }
    return map;
  }

  private static String text(JsonNode node) {
    return node.isString() ? node.stringValue() : "";
  }
}
