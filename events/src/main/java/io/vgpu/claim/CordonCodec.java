package io.vgpu.claim;

import io.vgpu.model.DeviceCordon;
import io.vgpu.model.DeviceCordon.Mode;
import io.vgpu.model.GpuUuid;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The node annotation {@code device-cordon}: {@code {"<uuid>": {"mode": "cordon" or "drain",
 * "reason": …, "since": …}}}. People write it too, so one bad entry costs only itself. Pure.
 */
public final class CordonCodec {
  private static final int MAX_LENGTH = 256 * 1024;
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(8)
                          .maxStringLength(4096)
                          .build())
                  .build())
          .build();

  private CordonCodec() {}

  /**
   * What could be read.
   *
   * @param problem what could not, in words; empty when all could
   */
  public record Reading(Map<GpuUuid, DeviceCordon> cordons, String problem) {
    public static final Reading NOTHING = new Reading(Map.of(), "");

    public Reading {
      cordons = Map.copyOf(cordons);
    }
  }

  /** Reads the annotation; never fails. */
  public static Reading read(@Nullable String text) {
    if (text == null || text.isBlank()) {
      return Reading.NOTHING;
    }
    try {
      return read(object(text));
    } catch (FormatException e) {
      return new Reading(Map.of(), String.valueOf(e.getMessage()));
    }
  }

  private static Reading read(ObjectNode object) {
    Map<GpuUuid, DeviceCordon> cordons = new TreeMap<>();
    List<String> problems = new ArrayList<>();
    for (Map.Entry<String, JsonNode> e : object.properties()) {
      try {
        cordons.put(new GpuUuid(e.getKey()), entry(e.getValue()));
      } catch (IllegalArgumentException bad) {
        problems.add("device-cordon." + e.getKey() + ": " + bad.getMessage());
      }
    }
    return new Reading(cordons, String.join("; ", problems));
  }

  private static DeviceCordon entry(JsonNode value) {
    String mode = value.path("mode").asString("");
    for (Mode known : Mode.values()) {
      if (word(known).equals(mode)) {
        return new DeviceCordon(
            known, value.path("reason").asString(""), value.path("since").asString(""));
      }
    }
    throw new FormatException("mode \"" + mode + "\": must be cordon or drain");
  }

  /**
   * The annotation with entries set and removed; those of other cards stay as they are, also ones
   * that cannot be read. Null when nothing is left. Throws {@link FormatException} for a text that
   * is no JSON object.
   */
  public static @Nullable String changed(
      @Nullable String text, Map<GpuUuid, DeviceCordon> set, Iterable<GpuUuid> removed) {
    ObjectNode object = text == null || text.isBlank() ? JSON.createObjectNode() : object(text);
    removed.forEach(uuid -> object.remove(uuid.value()));
    new TreeMap<>(set)
        .forEach(
            (uuid, cordon) -> {
              ObjectNode entry = object.putObject(uuid.value()).put("mode", word(cordon.mode()));
              if (!cordon.reason().isEmpty()) {
                entry.put("reason", cordon.reason());
              }
              entry.put("since", cordon.since());
            });
    return object.isEmpty() ? null : object.toString();
  }

  private static String word(Mode mode) {
    return mode.name().toLowerCase(Locale.ROOT);
  }

  private static ObjectNode object(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new FormatException(
          "device-cordon of " + text.length() + " characters: at most " + MAX_LENGTH);
    }
    try {
      if (JSON.readTree(text) instanceof ObjectNode object) {
        return object;
      }
      throw new FormatException("device-cordon: must be a JSON object");
    } catch (JacksonException e) {
      throw new FormatException("device-cordon: not JSON: " + e.getOriginalMessage(), e);
    }
  }
}
