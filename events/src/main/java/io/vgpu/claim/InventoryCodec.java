package io.vgpu.claim;

import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeInventory;
import io.vgpu.model.NodeTopology;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The node's annotations (node-agent.md 1.6): {@code node-config-info}, {@code
 * node-device-register}, {@code node-device-topology}. Pure. Unknown fields are skipped, missing or
 * wrong ones refused by name; keys are written in the spec's order, whole numbers without a decimal
 * point, so that equal inventories have equal texts.
 */
public final class InventoryCodec {
  public static final int MAX_LENGTH = 256 * 1024;
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(8)
                          .maxNumberLength(40)
                          .maxStringLength(4096)
                          .build())
                  .build())
          .build();

  private InventoryCodec() {}

  /** {@code node-config-info}. */
  public static String encodeConfig(NodeConfig config) {
    ObjectNode o = JSON.createObjectNode();
    o.put("deviceSplit", config.deviceSplit());
    o.put("coresScaling", plain(config.coresScaling()));
    o.put("memoryFactor", config.memoryFactor());
    o.put("memoryScaling", plain(config.memoryScaling()));
    return o.toString();
  }

  /** Reads {@code node-config-info}; throws {@link FormatException}. */
  public static NodeConfig decodeConfig(String text) {
    JsonNode o = parse("node-config-info", text);
    if (!o.isObject()) {
      throw new FormatException("node-config-info: must be a JSON object");
    }
    Fields f = new Fields("node-config-info", o);
    return checked(
        "node-config-info",
        () ->
            new NodeConfig(
                f.integer("deviceSplit"),
                f.decimal("coresScaling"),
                f.integer("memoryFactor"),
                f.decimal("memoryScaling")));
  }

  /** {@code node-device-register}, sorted by id. */
  public static String encodeRegister(List<GpuDevice> devices) {
    ArrayNode array = JSON.createArrayNode();
    for (GpuDevice d : devices.stream().sorted(Comparator.comparingInt(GpuDevice::id)).toList()) {
      ObjectNode o = array.addObject();
      o.put("id", d.id());
      o.put("type", d.type());
      o.put("uuid", d.uuid().value());
      o.put("core", d.core());
      o.put("memory", d.memory());
      o.put("number", d.number());
      o.put("numa", d.numa());
      o.put("mig", d.mig());
      o.put("busId", d.busId());
      // through its shortest decimal form: 8.6f as a double would print 8.600000381469727
      o.put("capability", plain(new BigDecimal(Float.toString(d.capability()))));
      o.put("healthy", d.healthy());
      if (d.withheld() == GpuDevice.Withheld.EXCLUDED) {
        o.put("excluded", true); // ours: who is not sick needs no nurse
      }
    }
    return array.toString();
  }

  /** Reads {@code node-device-register}, sorted by id; throws {@link FormatException}. */
  public static List<GpuDevice> decodeRegister(String text) {
    JsonNode array = parse("node-device-register", text);
    if (!array.isArray()) {
      throw new FormatException("node-device-register: must be a JSON array");
    }
    List<GpuDevice> devices = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      String where = "node-device-register[" + i + "]";
      Fields f = new Fields(where, array.get(i));
      devices.add(
          checked(
              where,
              () ->
                  new GpuDevice(
                      f.integer("id"),
                      // a cluster has few models and many cards: one text for each, soon compared
                      f.string("type").intern(),
                      new GpuUuid(f.string("uuid")),
                      f.integer("core"),
                      f.longInteger("memory"),
                      f.integer("number"),
                      f.integer("numa"),
                      f.bool("mig"),
                      f.string("busId"),
                      (float) f.decimal("capability"),
                      f.bool("healthy"),
                      f.has("excluded", JsonNode::isBoolean) && f.bool("excluded")
                          ? GpuDevice.Withheld.EXCLUDED
                          : GpuDevice.Withheld.NO)));
    }
    checked(
        "node-device-register",
        () -> {
          NodeInventory.checkDistinct(devices);
          return devices;
        });
    devices.sort(Comparator.comparingInt(GpuDevice::id));
    return List.copyOf(devices);
  }

  /** {@code node-device-topology}, in index order. */
  public static String encodeTopology(NodeTopology topology) {
    ArrayNode array = JSON.createArrayNode();
    topology
        .links()
        .forEach(
            (index, peers) -> {
              ObjectNode o = array.addObject();
              o.put("index", index);
              ObjectNode links = o.putObject("links");
              peers.forEach(
                  (peer, types) -> {
                    ArrayNode list = links.putArray(Integer.toString(peer));
                    types.forEach(list::add);
                  });
            });
    return array.toString();
  }

  /** Reads {@code node-device-topology}; throws {@link FormatException}. */
  public static NodeTopology decodeTopology(String text) {
    JsonNode array = parse("node-device-topology", text);
    if (!array.isArray()) {
      throw new FormatException("node-device-topology: must be a JSON array");
    }
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> links = new TreeMap<>();
    for (int i = 0; i < array.size(); i++) {
      String where = "node-device-topology[" + i + "]";
      Fields f = new Fields(where, array.get(i));
      if (links.put(f.integer("index"), peers(where, f.object("links"))) != null) {
        throw new FormatException(where + ": index " + f.integer("index") + " stands twice");
      }
    }
    return checked("node-device-topology", () -> new NodeTopology(links));
  }

  /** Reads {@code node-gpu-domain}, rail keys by card UUID; throws {@link FormatException}. */
  public static Map<String, String> decodeRails(String text) {
    JsonNode o = parse("node-gpu-domain", text);
    if (!o.isObject()) {
      throw new FormatException("node-gpu-domain: must be a JSON object");
    }
    Map<String, String> rails = new TreeMap<>();
    for (Map.Entry<String, JsonNode> e : o.properties()) {
      if (!e.getValue().isString()) {
        throw new FormatException("node-gpu-domain." + e.getKey() + ": must be a string");
      }
      rails.put(e.getKey(), e.getValue().stringValue());
    }
    return rails;
  }

  private static SortedMap<Integer, List<Integer>> peers(String where, JsonNode links) {
    SortedMap<Integer, List<Integer>> peers = new TreeMap<>();
    for (Map.Entry<String, JsonNode> e : links.properties()) {
      if (!e.getKey().matches("[0-9]{1,4}")) {
        throw new FormatException(
            where + ".links: peer \"" + e.getKey() + "\" must be a card index");
      }
      if (!e.getValue().isArray()) {
        throw new FormatException(
            where + ".links." + e.getKey() + ": must be a list of link types");
      }
      List<Integer> types = new ArrayList<>();
      for (JsonNode type : e.getValue()) {
        if (!type.isIntegralNumber() || !type.canConvertToInt()) {
          throw new FormatException(
              where + ".links." + e.getKey() + ": link type " + type + " must be a whole number");
        }
        types.add(type.intValue());
      }
      peers.put(Integer.parseInt(e.getKey()), types);
    }
    return peers;
  }

  private static BigDecimal plain(double value) {
    return plain(BigDecimal.valueOf(value));
  }

  private static BigDecimal plain(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private static JsonNode parse(String what, String text) {
    if (text.length() > MAX_LENGTH) {
      throw new FormatException(
          what + " of " + text.length() + " characters: at most " + MAX_LENGTH);
    }
    try {
      JsonNode node = JSON.readTree(text);
      if (node == null || node.isMissingNode()) {
        throw new FormatException(what + ": must not be empty");
      }
      return node;
    } catch (JacksonException e) {
      throw new FormatException(what + ": not JSON: " + e.getOriginalMessage(), e);
    }
  }

  private interface Maker<T> {
    T make();
  }

  private static <T> T checked(String where, Maker<T> maker) {
    try {
      return maker.make();
    } catch (FormatException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new FormatException(where + ": " + e.getMessage(), e);
    }
  }

  /** Reads fields of one object, each refused by name when absent or of the wrong kind. */
  private record Fields(String where, JsonNode node) {
    Fields {
      if (!node.isObject()) {
        throw new FormatException(where + ": must be a JSON object");
      }
    }

    private JsonNode field(String name, String rule, boolean ok) {
      JsonNode value = node.get(name);
      if (value == null || !ok) {
        throw new FormatException(
            where + "." + name + ": " + (value == null ? "is missing" : value + " " + rule));
      }
      return value;
    }

    private boolean has(String name, java.util.function.Predicate<JsonNode> test) {
      JsonNode value = node.get(name);
      return value != null && test.test(value);
    }

    int integer(String name) {
      return field(
              name,
              "must be a whole number",
              has(name, v -> v.isIntegralNumber() && v.canConvertToInt()))
          .intValue();
    }

    long longInteger(String name) {
      return field(
              name,
              "must be a whole number",
              has(name, v -> v.isIntegralNumber() && v.canConvertToLong()))
          .longValue();
    }

    double decimal(String name) {
      return field(name, "must be a number", has(name, JsonNode::isNumber)).doubleValue();
    }

    String string(String name) {
      return field(name, "must be a string", has(name, JsonNode::isString)).stringValue();
    }

    boolean bool(String name) {
      return field(name, "must be true or false", has(name, JsonNode::isBoolean)).booleanValue();
    }

    JsonNode object(String name) {
      return field(name, "must be an object", has(name, JsonNode::isObject));
    }
  }
}
