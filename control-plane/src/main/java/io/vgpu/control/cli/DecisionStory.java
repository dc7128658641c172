package io.vgpu.control.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** The extender's explanation for people. Pure. */
final class DecisionStory {
  private DecisionStory() {}

  /** What was decided: of nodes, of the ranking, of every card. */
  static List<String> decided(JsonNode d) {
    List<String> lines = new ArrayList<>();
    JsonNode filter = d.path("filter");
    if (!filter.isMissingNode()) {
      lines.add(
          "filter     "
              + filter.path("at").asString()
              + " "
              + filter.path("fits").asInt()
              + " of "
              + filter.path("nodes").asInt()
              + " nodes fit"
              + offered(filter)
              + (filter.path("text").asString("").isEmpty()
                  ? ""
                  : ": " + filter.path("text").asString()));
      for (JsonNode n : filter.path("notOffered")) {
        lines.add("passed by  " + n.path("node").asString() + ": " + n.path("why").asString());
      }
    }
    JsonNode ranking = d.path("ranking");
    if (!ranking.isMissingNode()) {
      lines.add("ranking    " + ranking.path("why").asString());
      for (JsonNode n : ranking.path("nodes")) {
        lines.add(
            "scored     "
                + n.path("node").asString()
                + ": "
                + n.path("level").asInt()
                + " of 10, score "
                + n.path("score").asDouble()
                + (n.path("fitness").asInt() > 0 ? ", fitness " + n.path("fitness").asInt() : "")
                + " ("
                + n.path("parts").asString()
                + ")");
      }
    }
    bind(lines, d.path("bind"));
    return lines;
  }

  /** Decisions of earlier releases do not say. */
  private static String offered(JsonNode filter) {
    int fits = filter.path("fits").asInt();
    int offered = filter.path("offered").asInt(fits);
    return offered == fits ? "" : ", " + offered + " of them offered";
  }

  private static void bind(List<String> lines, JsonNode bind) {
    if (bind.isMissingNode()) {
      return;
    }
    String error = bind.path("error").asString("");
    lines.add(
        "bind       "
            + bind.path("at").asString()
            + " "
            + bind.path("node").asString()
            + ": "
            + (error.isEmpty() ? "bound" : error));
    for (JsonNode c : bind.path("containers")) {
      if (!c.path("fallback").asString("").isEmpty()) {
        lines.add("together   " + c.path("fallback").asString());
      }
      for (JsonNode device : c.path("devices")) {
        lines.add(
            "card       "
                + c.path("container").asString()
                + ": "
                + device.path("card").asInt()
                + (device.path("given").asBoolean() ? " given, " : " not given, ")
                + device.path("why").asString());
      }
    }
  }

  /** Why it waits: a line of all nodes, a table of some, and what would help. */
  static List<String> waits(JsonNode d) {
    List<String> lines = new ArrayList<>();
    JsonNode filter = d.path("filter");
    String text = filter.path("text").asString("");
    lines.add(
        !text.isEmpty()
            ? text
            : filter.path("fits").asInt()
                + " of "
                + filter.path("nodes").asInt()
                + " nodes fitted at "
                + filter.path("at").asString());
    String error = d.path("bind").path("error").asString("");
    if (!error.isEmpty()) {
      lines.add("bind to " + d.path("bind").path("node").asString() + ": " + error);
    }
    if (!d.path("now").isMissingNode()) {
      Table table = new Table("NODE", "NOW", "DETAIL", "WOULD FIT WITH");
      for (JsonNode n : d.path("now").path("nodes")) {
        boolean fits = n.path("fits").asBoolean();
        table.row(
            n.path("node").asString(),
            fits ? "fits" : n.path("reason").asString(),
            fits ? "" : n.path("detail").asString(),
            fits ? "" : would(n.path("wouldFitWith")));
      }
      lines.addAll(table.lines());
    } else if (d.path("bind").isMissingNode() || !error.isEmpty()) {
      lines.add("how the nodes are now is not told: no scheduler remembers this pod");
    } else {
      lines.add("it does not wait: bound to " + d.path("bind").path("node").asString());
    }
    return lines;
  }

  private static String would(JsonNode limits) {
    return limits.isEmpty()
        ? "no smaller number alone"
        : limits
            .valueStream()
            .map(
                l ->
                    l.path("container").asString()
                        + " "
                        + l.path("resource").asString()
                        + " "
                        + l.path("atMost").asLong()
                        + " (asks "
                        + l.path("asked").asLong()
                        + ")")
            .collect(Collectors.joining(", or "));
  }
}
