package io.vgpu.agent.health;

import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.claim.FormatException;
import io.vgpu.model.GpuUuid;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which cards were out of order when the agent last ended, so that its restart does not make them
 * whole. Of one boot: a reboot resets every card. Pure.
 *
 * @param boot hash of the kernel's boot id
 */
public record HealthNotes(long boot, Map<GpuUuid, Note> cards) {
  /** One card or MIG slice; the fields are {@link CardHealth}'s. */
  public record Note(String cause, boolean lasting, int falls) {}

  private static final int VERSION = 1;
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_FALLS = 1000;
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(8)
                          .maxStringLength(64 * 1024)
                          .build())
                  .build())
          .build();

  public static final HealthNotes NONE = new HealthNotes(0, Map.of());
  public static final Checkpoint.Codec<HealthNotes> CODEC =
      new Checkpoint.Codec<>(HealthNotes::encode, HealthNotes::decode, NONE, MAX_BYTES);

  public HealthNotes {
    cards = Map.copyOf(cards);
  }

  /** What of it still holds: nothing after another boot. */
  public Map<GpuUuid, Note> after(long presentBoot) {
    return boot == presentBoot ? cards : Map.of();
  }

  String encode() {
    ObjectNode root = JSON.createObjectNode();
    root.put("version", VERSION);
    root.put("boot", Long.toHexString(boot));
    ObjectNode all = root.putObject("cards");
    Map<String, Note> sorted = new TreeMap<>();
    cards.forEach((uuid, note) -> sorted.put(uuid.value(), note));
    sorted.forEach(
        (uuid, note) -> {
          ObjectNode one = all.putObject(uuid);
          one.put("cause", note.cause());
          one.put("lasting", note.lasting());
          one.put("falls", note.falls());
        });
    return root + "\n";
  }

  static HealthNotes decode(String text) {
    try {
      JsonNode root = JSON.readTree(text);
      if (root.path("version").asInt(0) != VERSION) {
        throw new FormatException(
            "health notes, version " + root.path("version") + ": only " + VERSION + " is known");
      }
      Map<GpuUuid, Note> cards = new TreeMap<>();
      root.path("cards")
          .properties()
          .forEach(
              e ->
                  cards.put(
                      new GpuUuid(e.getKey()),
                      new Note(
                          e.getValue().path("cause").asString(""),
                          e.getValue().path("lasting").asBoolean(false),
                          Math.clamp(e.getValue().path("falls").asInt(1), 1, MAX_FALLS))));
      return new HealthNotes(Long.parseUnsignedLong(root.path("boot").asString(""), 16), cards);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new FormatException("health notes: " + e.getMessage());
    }
  }
}
