package io.vgpu.agent.gpu;

import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.claim.FormatException;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which cards the driver showed, so that a card that does not answer when the agent starts anew is
 * still known, and unhealthy, rather than not there (docs/adr/0017). Of one boot: another one may
 * count the cards anew. Pure but for {@link #read}.
 *
 * @param boot hash of the kernel's boot id
 */
public record CardNotes(long boot, List<PhysicalGpu> cards) {
  private static final Logger log = LoggerFactory.getLogger(CardNotes.class);
  private static final int VERSION = 1;
  private static final int MAX_BYTES = 4 << 20;
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

  private static final CardNotes NONE = new CardNotes(0, List.of());
  public static final Checkpoint.Codec<CardNotes> CODEC =
      new Checkpoint.Codec<>(CardNotes::encode, CardNotes::decode, NONE, MAX_BYTES);

  public CardNotes {
    cards = List.copyOf(cards);
  }

  /** What holds for this boot of what lies there; what cannot be read is nothing. Blocks. */
  public static CardNotes read(Path file, long boot) {
    CardNotes none = new CardNotes(boot, List.of());
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new FormatException("notes of cards: longer than " + MAX_BYTES + " bytes");
      }
      CardNotes notes = decode(Files.readString(file));
      return notes.boot() == boot ? notes : none;
    } catch (NoSuchFileException e) {
      return none;
    } catch (FormatException | CharacterCodingException e) {
      log.warn("notes of cards cannot be read [file: {}, cause: {}]", file, e.toString());
    } catch (IOException e) {
      log.warn("notes of cards not read [file: {}, cause: {}]", file, e.toString());
    }
    return none;
  }

  /** With what is there now; a card that is not found now stays as it was. */
  public CardNotes with(List<PhysicalGpu> now) {
    Map<Integer, PhysicalGpu> byIndex = new TreeMap<>();
    cards.forEach(g -> byIndex.put(g.index(), g));
    now.forEach(g -> byIndex.put(g.index(), g));
    return new CardNotes(boot, List.copyOf(byIndex.values()));
  }

  String encode() {
    ObjectNode root = JSON.createObjectNode();
    root.put("version", VERSION).put("boot", Long.toHexString(boot));
    ArrayNode all = root.putArray("cards");
    cards.stream()
        .sorted(Comparator.comparingInt(PhysicalGpu::index))
        .forEach(g -> write(all.addObject(), g));
    return root + "\n";
  }

  private static void write(ObjectNode o, PhysicalGpu g) {
    o.put("index", g.index())
        .put("minor", g.minor())
        .put("uuid", g.uuid().value())
        .put("name", g.name())
        .put("memoryBytes", g.memoryBytes())
        .put("busId", g.busId())
        .put("numa", g.numa())
        .put("capability", g.capability())
        .put("smCount", g.smCount())
        .put("mig", g.mig());
    ArrayNode slices = o.putArray("slices");
    for (MigDevice m : g.migDevices()) {
      slices
          .addObject()
          .put("uuid", m.uuid().value())
          .put("profile", m.profile())
          .put("gpuInstance", m.gpuInstance())
          .put("computeInstance", m.computeInstance())
          .put("multiprocessors", m.multiprocessors())
          .put("memoryMiB", m.memoryMiB());
    }
  }

  static CardNotes decode(String text) {
    try {
      JsonNode root = JSON.readTree(text);
      if (root.path("version").asInt(0) != VERSION) {
        throw new FormatException(
            "notes of cards, version " + root.path("version") + ": only " + VERSION + " is known");
      }
      List<PhysicalGpu> cards = new ArrayList<>();
      root.path("cards").forEach(o -> cards.add(card(o)));
      return new CardNotes(Long.parseUnsignedLong(root.path("boot").asString(""), 16), cards);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new FormatException("notes of cards: " + e.getMessage());
    }
  }

  private static PhysicalGpu card(JsonNode o) {
    List<MigDevice> slices = new ArrayList<>();
    for (JsonNode m : o.path("slices")) {
      slices.add(
          new MigDevice(
              new GpuUuid(m.path("uuid").asString("")),
              m.path("profile").asString(""),
              m.path("gpuInstance").asInt(0),
              m.path("computeInstance").asInt(0),
              m.path("multiprocessors").asInt(0),
              m.path("memoryMiB").asLong(0)));
    }
    return new PhysicalGpu(
        o.path("index").asInt(-1),
        o.path("minor").asInt(-1),
        new GpuUuid(o.path("uuid").asString("")),
        o.path("name").asString(""),
        o.path("memoryBytes").asLong(0),
        o.path("busId").asString(""),
        o.path("numa").asInt(-1),
        o.path("capability").floatValue(0f),
        o.path("smCount").asInt(0),
        o.path("mig").asBoolean(false),
        slices);
  }
}
