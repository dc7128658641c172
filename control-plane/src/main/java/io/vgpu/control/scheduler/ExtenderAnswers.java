package io.vgpu.control.scheduler;

import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.scheduler.FilterVerb.Answer;
import io.vgpu.control.scheduler.Verdict.Refused;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the extender protocol's answers (control-plane.md 1.1): the form of the nodes in is the
 * form of the nodes out. Pure.
 */
final class ExtenderAnswers {
  /** What an answer has beside its nodes, and guesses of what it has for each of them. */
  private static final int FRAME = 256;

  private static final int A_REASON = 48;
  private static final int A_SCORE = 20;

  private static final byte[] FIT = ByteSink.ascii("{\"Nodes\":null,\"NodeNames\":[");
  private static final byte[] FAILED = ByteSink.ascii("],\"FailedNodes\":{");
  private static final byte[] END =
      ByteSink.ascii("},\"FailedAndUnresolvableNodes\":null,\"Error\":\"\"}");
  private static final byte[] HOST = ByteSink.ascii("{\"Host\":");
  private static final byte[][] SCORES =
      IntStream.rangeClosed(0, Ranking.BEST)
          .mapToObj(level -> ByteSink.ascii(",\"Score\":" + level + "}"))
          .toArray(byte[][]::new);

  private ExtenderAnswers() {}

  /** ExtenderFilterResult. */
  static Buffer filter(ExtenderArgs args, Answer answer) {
    return switch (answer) {
      case Answer.Echo echo -> Buffer.buffer(echo(args, ""));
      case Answer.Failed failed -> Buffer.buffer(echo(args, failed.error()));
      case Judged judged -> judged(args, judged);
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
    NameList names = args.nodeNames();
    if (names != null) {
      ArrayNode array = o.putArray("NodeNames");
      names.forEach(array::add);
    }
    o.put("Error", error);
    return o.toString();
  }

  private static Buffer judged(ExtenderArgs args, Judged judged) {
    NameList names = args.nodeNames();
    return names == null || names.isEmpty()
        ? Buffer.buffer(nodesJudged(args, judged))
        : namesJudged(judged);
  }

  private static Buffer namesJudged(Judged judged) {
    NameList names = judged.asked().names();
    ByteSink out =
        new ByteSink(FRAME + names.bytes() + (judged.nodes() - judged.fits()) * A_REASON);
    out.put(FIT);
    boolean first = true;
    for (int i = 0; i < judged.nodes(); i++) {
      if (judged.isOffered(i)) {
        comma(first, out);
        names.write(i, out);
        first = false;
      }
    }
    out.put(FAILED);
    Map<Refused, byte[]> texts = new IdentityHashMap<>();
    first = true;
    for (int i = 0; i < judged.nodes(); i++) {
      Refused no = judged.refusal(i);
      if (no != null) {
        comma(first, out);
        names.write(i, out);
        out.put(':');
        out.put(texts.computeIfAbsent(no, r -> ExtenderJson.JSON.writeValueAsBytes(r.text())));
        first = false;
      }
    }
    return buffer(out.put(END));
  }

  private static void comma(boolean first, ByteSink out) {
    if (!first) {
      out.put(',');
    }
  }

  private static String nodesJudged(ExtenderArgs args, Judged judged) {
    ObjectNode o = empty();
    nodes(o, args, judged);
    ObjectNode failed = o.putObject("FailedNodes");
    judged.refused().forEach((node, refused) -> failed.put(node, refused.text()));
    o.put("Error", "");
    return o.toString();
  }

  private static void nodes(ObjectNode o, ExtenderArgs args, Judged judged) {
    ObjectNode list = o.putObject("Nodes");
    JsonNode given = args.nodes();
    if (given != null) {
      given.properties().stream()
          .filter(e -> !e.getKey().equalsIgnoreCase("items"))
          .forEach(e -> list.set(e.getKey(), e.getValue()));
    }
    ArrayNode items = list.putArray("items");
    Set<String> offered = new HashSet<>(judged.offered());
    for (JsonNode item : args.items()) {
      String name = nameOf(item);
      if (name != null && offered.contains(name)) {
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

  /**
   * HostPriorityList. kube-scheduler counts 0 for a host that is not named, and reading a thousand
   * that are costs it more than to place the pod.
   */
  static Buffer scores(PrioritizeVerb.Scores scores) {
    NameList names = scores.asked().names();
    ByteSink out = new ByteSink(FRAME + names.bytes() + names.size() * A_SCORE);
    out.put('[');
    boolean first = true;
    for (int i = 0; i < names.size(); i++) {
      byte level = scores.levels()[i];
      if (level > 0) {
        comma(first, out);
        first = false;
        out.put(HOST);
        names.write(i, out);
        out.put(SCORES[level]);
      }
    }
    return buffer(out.put(']'));
  }

  /** The bytes themselves: a copy of them would be the dearest part of an answer. */
  private static Buffer buffer(ByteSink out) {
    return BufferInternal.buffer(Unpooled.wrappedBuffer(out.bytes(), 0, out.size()));
  }

  /** ExtenderBindingResult. */
  static String bind(String error) {
    return ExtenderJson.JSON.createObjectNode().put("Error", error).toString();
  }
}
