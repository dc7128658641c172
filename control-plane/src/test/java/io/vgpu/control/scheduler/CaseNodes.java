package io.vgpu.control.scheduler;

import io.vgpu.claim.InventoryCodec;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeTopology;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Builds nodes and pods from the words of the scenario file. */
final class CaseNodes {
  private final JsonNode fixtures;

  CaseNodes(JsonNode fixtures) {
    this.fixtures = fixtures;
  }

  /** The node that a case names, as its own words change it. */
  NodeRecord record(String name, JsonNode words) {
    JsonNode fixture = fixtures.path(words.path("on").asString());
    if (fixture.isMissingNode()) {
      throw new AssertionError("no fixture " + words.path("on"));
    }
    List<GpuDevice> devices = devices(fixture, words);
    JsonNode config = words.path("config");
    NodeRecord record =
        new NodeRecord(
            name,
            devices.stream().mapToLong(GpuDevice::number).sum(),
            InventoryCodec.encodeRegister(devices),
            InventoryCodec.encodeConfig(
                new NodeConfig(
                    10,
                    config.path("coresScaling").asDouble(1),
                    config.path("memoryFactor").asInt(1),
                    config.path("memoryScaling").asDouble(1))),
            Host.PLENTY,
            fixture.has("links")
                ? InventoryCodec.encodeTopology(topology(devices.size(), fixture.get("links")))
                : null,
            words.has("rails") ? rails(words.get("rails")) : null);
    return record.cordoned(Nodes.cordons(devices));
  }

  /** The same with what the case says is in use. */
  NodeView view(String name, JsonNode words) {
    NodeView node = NodeView.empty(record(name, words), 0);
    Use[] used = new Use[node.cards().size()];
    for (int i = 0; i < used.length; i++) {
      JsonNode text = words.path("used").path(Integer.toString(i));
      used[i] = text.isMissingNode() ? Use.ZERO : use(text.asString());
    }
    return Nodes.used(node, used);
  }

  static Use use(String text) {
    String[] n = text.split("/", -1);
    return new Use(Long.parseLong(n[0]), Long.parseLong(n[1]), Long.parseLong(n[2]));
  }

  private static List<GpuDevice> devices(JsonNode fixture, JsonNode words) {
    int count = fixture.has("types") ? fixture.get("types").size() : fixture.get("cards").asInt();
    Set<Integer> unhealthy = ints(words.path("unhealthy"));
    Set<Integer> mig = ints(words.path("mig"));
    Set<Integer> cordoned = ints(words.path("cordoned"));
    List<GpuDevice> devices = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      JsonNode memory = fixture.get("memory");
      String type =
          words.has("type")
              ? words.get("type").asString()
              : fixture.path("types").path(i).asString("NVIDIA A10");
      devices.add(
          new GpuDevice(
              i,
              type,
              Nodes.uuid(i),
              words.path("cores").asInt(100),
              memory.isArray() ? memory.get(i).asLong() : memory.asLong(),
              fixture.get("slots").asInt(),
              fixture.path("numa").path(i).asInt(-1),
              mig.contains(i),
              "0000:0" + i + ":00.0",
              8.6f,
              !unhealthy.contains(i),
              cordoned.contains(i) ? GpuDevice.Withheld.CORDONED : GpuDevice.Withheld.NO));
    }
    return devices;
  }

  private static Set<Integer> ints(JsonNode list) {
    Set<Integer> ints = new HashSet<>();
    list.forEach(i -> ints.add(i.asInt()));
    return ints;
  }

  private static String rails(JsonNode list) {
    List<String> entries = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      entries.add("\"" + Nodes.uuid(i) + "\":\"" + list.get(i).asString() + "\"");
    }
    return "{" + String.join(",", entries) + "}";
  }

  /** Codes in the order written: a pair keeps the first one that names it. */
  private static NodeTopology topology(int cards, JsonNode codes) {
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> links = new TreeMap<>();
    for (int a = 0; a < cards; a++) {
      links.put(a, new TreeMap<>());
    }
    for (Map.Entry<String, JsonNode> e : codes.properties()) {
      int code = Integer.parseInt(e.getKey());
      for (String word : e.getValue().asString().split(" ", -1)) {
        String among =
            word.equals("rest") ? "0123456789".substring(0, cards) : word.replace("in:", "");
        for (int i = 0; i < among.length(); i++) {
          for (int k = i + 1; k < among.length(); k++) {
            int a = among.charAt(i) - '0';
            int b = among.charAt(k) - '0';
            links.getOrDefault(a, new TreeMap<>()).putIfAbsent(b, List.of(code));
            links.getOrDefault(b, new TreeMap<>()).putIfAbsent(a, List.of(code));
          }
        }
      }
    }
    return new NodeTopology(links);
  }

  /** A pod: containers by number/cores/memory, and annotations without their domain. */
  static Pods pod(JsonNode words) {
    return pod(words, null);
  }

  static Pods pod(JsonNode words, @Nullable JsonNode more) {
    Pods pod = new Pods();
    for (JsonNode container : words.get("pod")) {
      String[] parts = container.asString().split(" ", -1);
      Use ask = use(parts[parts.length - 1]);
      switch (parts.length == 1 ? "" : parts[0]) {
        case "i" -> pod.init(ask.slots(), ask.cores(), ask.memory());
        case "s" -> pod.sidecar(ask.slots(), ask.cores(), ask.memory());
        default -> pod.app(ask.slots(), ask.cores(), ask.memory());
      }
    }
    annotations(words).forEach(pod::with);
    if (more != null) {
      annotations(more).forEach(pod::with);
    }
    return pod;
  }

  static Map<String, String> annotations(JsonNode words) {
    Map<String, String> annotations = new TreeMap<>();
    words
        .path("with")
        .properties()
        .forEach(
            e -> annotations.put(Pods.NAMES.domain() + "/" + e.getKey(), e.getValue().asString()));
    return annotations;
  }
}
