package io.vgpu.control.explain;

import io.vgpu.claim.FormatException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page {@code /decisions/SEQUENCE} of an extender's health port, and its times. Pure. */
public final class DecisionFeed {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final List<String> STEPS = List.of("filter", "ranking", "bind");

  private DecisionFeed() {}

  /** A decision, ready to be kept. */
  record Entry(String namespace, String pod, Instant at, String json) {}

  /**
   * One page.
   *
   * @param instance of the extender: another one counts from 0 again
   * @param last up to which sequence number it tells
   * @param more whether there are later ones
   */
  record Page(String instance, long last, boolean more, List<Entry> entries) {}

  /** Reads a page; throws {@link FormatException}. */
  static Page read(String text) {
    try {
      JsonNode page = JSON.readTree(text);
      List<Entry> entries = new ArrayList<>();
      for (JsonNode d : page.path("decisions")) {
        JsonNode pod = d.path("pod");
        entries.add(
            new Entry(
                pod.path("namespace").asString(""),
                pod.path("name").asString(""),
                latest(d),
                d.toString()));
      }
      String instance = page.path("instance").asString("");
      if (instance.isEmpty() || !page.path("last").isIntegralNumber()) {
        throw new FormatException("decisions: instance and last must be there");
      }
      return new Page(
          instance, page.path("last").asLong(), page.path("more").asBoolean(false), entries);
    } catch (JacksonException e) {
      throw new FormatException("decisions: must be JSON: " + e.getOriginalMessage());
    }
  }

  /** When the last step of a decision was made; the epoch if it names none. */
  public static Instant latest(JsonNode decision) {
    Instant latest = Instant.EPOCH;
    for (String step : STEPS) {
      String at = decision.path(step).path("at").asString("");
      if (!at.isEmpty()) {
        Instant time = time(step, at);
        latest = time.isAfter(latest) ? time : latest;
      }
    }
    return latest;
  }

  private static Instant time(String step, String at) {
    try {
      return Instant.parse(at);
    } catch (DateTimeException e) {
      throw new FormatException(step + ".at \"" + at + "\": must be a time");
    }
  }
}
