package io.vgpu.control.scheduler;

import io.vertx.core.buffer.Buffer;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.scheduler.FilterVerb.Answer;
import java.io.ByteArrayOutputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the extender protocol's answers (control-plane.md 1.1): the form of the nodes in is the
 * form of the nodes out. Pure.
 */
final class ExtenderAnswers {
  private ExtenderAnswers() {}

  /** ExtenderFilterResult. */
  static Buffer filter(ExtenderArgs args, Answer answer) {
    return switch (answer) {
      case Answer.Echo echo -> Buffer.buffer(echo(args, ""));
      case Answer.Failed failed -> Buffer.buffer(echo(args, failed.error()));
      case Answer.Judged judged -> judged(args, judged);
    };
  }

  /** ExtenderFilterResult when nothing of the request could be read. */
  static String filterError(String error) {
    ObjectNode o = empty();
    o.put("Error", error);
    return o.toString();
  }

  private static ObjectNode empty() {
    ObjectNode o = ExtenderJson.JSON.createObjectNode();
    o.putNull("Nodes");
    o.putNull("NodeNames");
    o.putNull("FailedNodes");
    o.putNull("FailedAndUnresolvableNodes");
    return o;
  }

  private static String echo(ExtenderArgs args, String error) {
    ObjectNode o = empty();
    if (args.nodes() != null) {
      o.set("Nodes", args.nodes());
    }
    List<String> names = args.nodeNames();
    if (names != null) {
      names(o, names);
    }
    o.put("Error", error);
    return o.toString();
  }

  private static Buffer judged(ExtenderArgs args, Answer.Judged judged) {
    List<String> names = args.nodeNames();
    return names == null || names.isEmpty()
        ? Buffer.buffer(nodesJudged(args, judged))
        : namesJudged(judged);
  }

  private static Buffer namesJudged(Answer.Judged judged) {
    return written(
        out -> {
          out.writeStartObject().writeNullProperty("Nodes");
          out.writeArrayPropertyStart("NodeNames");
          judged.fitting().forEach(out::writeString);
          out.writeEndArray().writeObjectPropertyStart("FailedNodes");
          judged
              .refused()
              .forEach((node, refused) -> out.writeStringProperty(node, refused.text()));
          out.writeEndObject().writeNullProperty("FailedAndUnresolvableNodes");
          out.writeStringProperty("Error", "").writeEndObject();
        });
  }

  private static String nodesJudged(ExtenderArgs args, Answer.Judged judged) {
    ObjectNode o = empty();
    nodes(o, args, judged);
    ObjectNode failed = o.putObject("FailedNodes");
    judged.refused().forEach((node, refused) -> failed.put(node, refused.text()));
    o.put("Error", "");
    return o.toString();
  }

  private static void names(ObjectNode o, Iterable<String> names) {
    ArrayNode array = o.putArray("NodeNames");
    names.forEach(array::add);
  }

  private static void nodes(ObjectNode o, ExtenderArgs args, Answer.Judged judged) {
    ObjectNode list = o.putObject("Nodes");
    JsonNode given = args.nodes();
    if (given != null) {
      given.properties().stream()
          .filter(e -> !e.getKey().equalsIgnoreCase("items"))
          .forEach(e -> list.set(e.getKey(), e.getValue()));
    }
    ArrayNode items = list.putArray("items");
    Set<String> fitting = new HashSet<>(judged.fitting());
    for (JsonNode item : args.items()) {
      String name = nameOf(item);
      if (name != null && fitting.contains(name)) {
        items.add(item);
      }
    }
  }

  private static @Nullable String nameOf(JsonNode item) {
    JsonNode name = item.path("metadata").path("name");
    return name.isString() ? name.stringValue() : null;
  }

  /** ExtenderPreemptionResult of what was found. */
  static String victims(Map<String, PreemptVerb.Chosen> nodes) {
    ObjectNode o = ExtenderJson.JSON.createObjectNode();
    ObjectNode byNode = o.putObject("NodeNameToMetaVictims");
    nodes.forEach(
        (node, chosen) ->
            victims(
                byNode,
                node,
                chosen.victims().stream().map(PodRecord::uid).toList(),
                chosen.violations()));
    return o.toString();
  }

  /** ExtenderPreemptionResult of the proposal itself. */
  static String victimsAsSent(PreemptArgs args) {
    ObjectNode o = ExtenderJson.JSON.createObjectNode();
    ObjectNode byNode = o.putObject("NodeNameToMetaVictims");
    args.nodes()
        .forEach(
            (node, p) ->
                victims(
                    byNode,
                    node,
                    p.victims().stream().map(PreemptArgs.Victim::uid).toList(),
                    p.violations()));
    return o.toString();
  }

  private static void victims(ObjectNode to, String node, List<String> uids, long violations) {
    ObjectNode victims = to.putObject(node);
    ArrayNode pods = victims.putArray("Pods");
    uids.forEach(uid -> pods.addObject().put("UID", uid));
    victims.put("NumPDBViolations", violations);
  }

  /** HostPriorityList. */
  static Buffer scores(Map<String, Integer> levels) {
    return written(
        out -> {
          out.writeStartArray();
          levels.forEach(
              (host, score) ->
                  out.writeStartObject()
                      .writeStringProperty("Host", host)
                      .writeNumberProperty("Score", score)
                      .writeEndObject());
          out.writeEndArray();
        });
  }

  /** Straight to bytes: a tree of thousands of nodes costs more than to judge them. */
  private static Buffer written(Consumer<JsonGenerator> content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64 * 1024);
    try (JsonGenerator out = ExtenderJson.JSON.createGenerator(bytes)) {
      content.accept(out);
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  /** ExtenderBindingResult. */
  static String bind(String error) {
    return ExtenderJson.JSON.createObjectNode().put("Error", error).toString();
  }
}
