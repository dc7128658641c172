package io.vgpu.control.scheduler;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.kube.SlimRecords;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the extender protocol's requests. Field names are found as Go finds them: the exact one
 * first, else whatever the case (control-plane.md 1.1). Pure; everything wrong is a {@link
 * FormatException} that names the field.
 */
final class ExtenderJson {
  static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(64)
                          .maxNumberLength(40)
                          .build())
                  .build())
          .build();

  /** A quantity as the API server writes it; longer exponents would only cost memory. */
  private static final Pattern QUANTITY =
      Pattern.compile("[+-]?[0-9.]{1,40}([eE][+-]?[0-9]{1,2}|[numkMGTPE]i?)?");

  private static final Map<String, String> ARGS =
      Map.of("pod", "Pod", "nodes", "Nodes", "nodenames", "NodeNames");

  private final SlimRecords slim;

  /** {@code topology}: the links that nodes publish are looked at. */
  ExtenderJson(Names names, boolean topology) {
    this.slim = new SlimRecords(names, topology);
  }

  /**
   * The body of filter and prioritize. Thousands of names are read straight from the text, all else
   * as a tree.
   */
  ExtenderArgs args(byte[] body) {
    JsonNode pod = null;
    JsonNode nodes = null;
    @Nullable NameList names = null;
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new FormatException("ExtenderArgs: must be a JSON object");
      }
      Set<String> exact = new HashSet<>();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        boolean isNull = parser.nextToken() == JsonToken.VALUE_NULL;
        String field = ARGS.getOrDefault(name.toLowerCase(Locale.ROOT), "");
        boolean wanted = !field.isEmpty() && (field.equals(name) || !exact.contains(field));
        if (field.equals(name)) {
          exact.add(field);
        }
        if (!wanted) {
          parser.skipChildren();
        } else if (field.equals("NodeNames")) {
          int at = (int) parser.currentLocation().getByteOffset();
          if (parser.currentToken() == JsonToken.START_ARRAY && at > 0 && body[at - 1] == '[') {
            // kube-scheduler's order; whatever is not quite like it takes the parser's way
            NameList.Scan scan = NameList.scan(body, at);
            if (scan.endsTheObject()) {
              return args(pod, scan.names(), nodes);
            }
          }
          names = isNull ? null : NameList.of(names(parser));
        } else {
          JsonNode value = isNull ? null : parser.readValueAsTree();
          pod = field.equals("Pod") ? value : pod;
          nodes = field.equals("Nodes") ? value : nodes;
        }
      }
      if (parser.nextToken() != null) {
        throw new FormatException("request body is not JSON: something follows the object");
      }
    } catch (JacksonException e) {
      throw new FormatException("request body is not JSON: " + e.getOriginalMessage(), e);
    }
    return args(pod, names, nodes);
  }

  private ExtenderArgs args(
      @Nullable JsonNode pod, @Nullable NameList names, @Nullable JsonNode nodes) {
    return new ExtenderArgs(
        pod == null ? null : podRecord(pod),
        names,
        nodes,
        nodes == null ? List.of() : list("Nodes.items", field(object("Nodes", nodes), "items")),
        pod != null && SoftConstraints.in(pod));
  }

  private static List<String> names(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw new FormatException("NodeNames: must be a list");
    }
    List<String> names = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.VALUE_STRING) {
        throw new FormatException("NodeNames: must be a string");
      }
      names.add(parser.getString());
    }
    return names;
  }

  /** The body of bind. */
  BindArgs bindArgs(byte[] body) {
    JsonNode root = object("ExtenderBindingArgs", parse(body));
    return new BindArgs(
        text("PodName", field(root, "PodName")),
        text("PodNamespace", field(root, "PodNamespace")),
        text("PodUID", field(root, "PodUID")),
        text("Node", field(root, "Node")));
  }

  /** The body of preempt; full victims where they were sent, else their UIDs. */
  PreemptArgs preemptArgs(byte[] body) {
    JsonNode root = object("ExtenderPreemptionArgs", parse(body));
    JsonNode pod = field(root, "Pod");
    JsonNode full = field(root, "NodeNameToVictims");
    JsonNode meta = field(root, "NodeNameToMetaVictims");
    Map<String, PreemptArgs.Proposal> nodes = new LinkedHashMap<>();
    boolean asFull = full != null && !full.isEmpty();
    JsonNode sent = asFull ? full : meta;
    if (sent != null) {
      String where = asFull ? "NodeNameToVictims" : "NodeNameToMetaVictims";
      for (Map.Entry<String, JsonNode> e : object(where, sent).properties()) {
        nodes.put(e.getKey(), proposal(where + "." + e.getKey(), e.getValue(), asFull));
      }
    }
    return new PreemptArgs(pod == null ? null : podRecord(pod), nodes);
  }

  private PreemptArgs.Proposal proposal(String where, JsonNode json, boolean full) {
    List<PreemptArgs.Victim> victims = new ArrayList<>();
    for (JsonNode v : list(where + ".Pods", field(object(where, json), "Pods"))) {
      if (full) {
        PodRecord record = podRecord(v);
        victims.add(new PreemptArgs.Victim(record.uid(), record));
      } else {
        victims.add(
            new PreemptArgs.Victim(
                text(where + ".UID", field(object(where + ".Pods", v), "UID")), null));
      }
    }
    JsonNode violations = field(json, "NumPDBViolations");
    if (violations != null && !violations.canConvertToLong()) {
      throw new FormatException(where + ".NumPDBViolations: must be a whole number");
    }
    return new PreemptArgs.Proposal(victims, violations == null ? 0 : violations.longValue());
  }

  /** A pod that is a part of a larger body. */
  PodRecord pod(byte[] body, DryRunBody.Span span) {
    return podRecord(part(body, span));
  }

  /** A node that is a part of a larger body; empty when it cannot be read. */
  Optional<NodeRecord> node(byte[] body, DryRunBody.Span span) {
    return node(part(body, span));
  }

  private static JsonNode part(byte[] body, DryRunBody.Span span) {
    return JSON.readTree(body, span.from(), span.length());
  }

  private static JsonNode parse(byte[] body) {
    try {
      return JSON.readTree(body);
    } catch (JacksonException e) {
      throw new FormatException("request body is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  private PodRecord podRecord(JsonNode json) {
    try {
      return slim.pod(pod(object("Pod", json)));
    } catch (FormatException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new FormatException("Pod: " + e.getMessage(), e);
    }
  }

  private static Pod pod(JsonNode json) {
    PodBuilder pod = new PodBuilder().withMetadata(meta("Pod.metadata", field(json, "metadata")));
    JsonNode spec = field(json, "spec");
    if (spec != null) {
      object("Pod.spec", spec);
      pod.withNewSpec()
          .withNodeName(text("Pod.spec.nodeName", field(spec, "nodeName")))
          .withInitContainers(containers("Pod.spec.initContainers", field(spec, "initContainers")))
          .withContainers(containers("Pod.spec.containers", field(spec, "containers")))
          .withOverhead(quantities("Pod.spec.overhead", field(spec, "overhead")))
          .withPriority(priority(field(spec, "priority")))
          .addToAdditionalProperties(group(spec))
          .endSpec();
    }
    JsonNode status = field(json, "status");
    if (status != null) {
      pod.withNewStatus()
          .withPhase(text("Pod.status.phase", field(object("Pod.status", status), "phase")))
          .endStatus();
    }
    return pod.build();
  }

  private static @Nullable Integer priority(@Nullable JsonNode json) {
    if (json != null && !json.canConvertToInt()) {
      throw new FormatException("Pod.spec.priority: must be a whole number");
    }
    return json == null ? null : json.intValue();
  }

  /** The group that the pod is scheduled with; the client's model does not know the field. */
  private static Map<String, Object> group(JsonNode spec) {
    JsonNode group = field(spec, "schedulingGroup");
    JsonNode name = group == null || !group.isObject() ? null : field(group, "podGroupName");
    return name == null
        ? Map.of()
        : Map.of(
            "schedulingGroup",
            Map.of("podGroupName", text("Pod.spec.schedulingGroup.podGroupName", name)));
  }

  private static List<OwnerReference> owners(String where, @Nullable JsonNode json) {
    List<OwnerReference> owners = new ArrayList<>();
    for (JsonNode o : list(where, json)) {
      object(where, o);
      JsonNode controller = field(o, "controller");
      owners.add(
          new OwnerReferenceBuilder()
              .withKind(text(where + ".kind", field(o, "kind")))
              .withName(text(where + ".name", field(o, "name")))
              .withUid(text(where + ".uid", field(o, "uid")))
              .withController(controller != null && controller.asBoolean(false))
              .build());
    }
    return owners;
  }

  private static @Nullable String time(String where, @Nullable JsonNode json) {
    return json == null ? null : text(where, json);
  }

  private static ObjectMeta meta(String where, @Nullable JsonNode json) {
    if (json == null) {
      return new ObjectMeta();
    }
    object(where, json);
    return new ObjectMetaBuilder()
        .withName(text(where + ".name", field(json, "name")))
        .withNamespace(text(where + ".namespace", field(json, "namespace")))
        .withUid(text(where + ".uid", field(json, "uid")))
        .withResourceVersion(text(where + ".resourceVersion", field(json, "resourceVersion")))
        .withAnnotations(map(where + ".annotations", field(json, "annotations")))
        .withLabels(map(where + ".labels", field(json, "labels")))
        .withOwnerReferences(owners(where + ".ownerReferences", field(json, "ownerReferences")))
        .withCreationTimestamp(time(where + ".creationTimestamp", field(json, "creationTimestamp")))
        .withDeletionTimestamp(time(where + ".deletionTimestamp", field(json, "deletionTimestamp")))
        .build();
  }

  private static List<Container> containers(String where, @Nullable JsonNode json) {
    List<Container> containers = new ArrayList<>();
    for (JsonNode c : list(where, json)) {
      String at = where + "[" + containers.size() + "]";
      object(at, c);
      JsonNode resources = field(c, "resources");
      JsonNode limits =
          resources == null ? null : field(object(at + ".resources", resources), "limits");
      JsonNode requests = resources == null ? null : field(resources, "requests");
      String restart = text(at + ".restartPolicy", field(c, "restartPolicy"));
      containers.add(
          new ContainerBuilder()
              .withName(text(at + ".name", field(c, "name")))
              .withRestartPolicy(restart.isEmpty() ? null : restart)
              .withNewResources()
              .withLimits(quantities(at + ".resources.limits", limits))
              .withRequests(quantities(at + ".resources.requests", requests))
              .endResources()
              .build());
    }
    return containers;
  }

  private static Map<String, Quantity> quantities(String where, @Nullable JsonNode json) {
    Map<String, Quantity> quantities = new HashMap<>();
    if (json != null) {
      for (Map.Entry<String, JsonNode> e : object(where, json).properties()) {
        String at = where + "[" + e.getKey() + "]";
        JsonNode value = e.getValue();
        String text = value.isNumber() ? value.toString() : text(at, value);
        if (!QUANTITY.matcher(text).matches()) {
          throw new FormatException(at + " \"" + clip(text) + "\": must be a quantity");
        }
        quantities.put(e.getKey(), quantity(at, text));
      }
    }
    return quantities;
  }

  private static Quantity quantity(String where, String text) {
    try {
      Quantity quantity = new Quantity(text);
      quantity.getNumericalAmount();
      return quantity;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new FormatException(where + " \"" + clip(text) + "\": must be a quantity", e);
    }
  }

  /** A node that stands in the request itself; empty when it cannot be read. */
  Optional<NodeRecord> node(JsonNode json) {
    JsonNode status = json.isObject() ? field(json, "status") : null;
    JsonNode allocatable =
        status == null || !status.isObject() ? null : field(status, "allocatable");
    Node node =
        new NodeBuilder()
            .withMetadata(meta("Node.metadata", json.isObject() ? field(json, "metadata") : null))
            .withNewStatus()
            .withAllocatable(quantities("Node.status.allocatable", allocatable))
            .endStatus()
            .build();
    String name = node.getMetadata().getName();
    return name == null || name.isEmpty() ? Optional.empty() : Optional.of(slim.node(node));
  }

  // ---- JSON as Go reads it

  private static @Nullable JsonNode field(JsonNode object, String name) {
    JsonNode exact = object.get(name);
    if (exact == null) {
      for (Map.Entry<String, JsonNode> e : object.properties()) {
        if (e.getKey().equalsIgnoreCase(name)) {
          exact = e.getValue();
        }
      }
    }
    return exact == null || exact.isNull() ? null : exact;
  }

  private static JsonNode object(String where, @Nullable JsonNode json) {
    if (json == null || !json.isObject()) {
      throw new FormatException(where + ": must be a JSON object");
    }
    return json;
  }

  private static String text(String where, @Nullable JsonNode json) {
    if (json == null) {
      return "";
    }
    if (!json.isString()) {
      throw new FormatException(where + ": must be a string");
    }
    return json.stringValue();
  }

  private static List<JsonNode> list(String where, @Nullable JsonNode json) {
    if (json == null) {
      return List.of();
    }
    if (!json.isArray()) {
      throw new FormatException(where + ": must be a list");
    }
    List<JsonNode> items = new ArrayList<>();
    json.forEach(items::add);
    return items;
  }

  private static Map<String, String> map(String where, @Nullable JsonNode json) {
    Map<String, String> map = new HashMap<>();
    if (json != null) {
      for (Map.Entry<String, JsonNode> e : object(where, json).properties()) {
        map.put(e.getKey(), e.getValue().isNull() ? "" : text(where, e.getValue()));
      }
    }
    return map;
  }

  private static String clip(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }
}
