package io.vgpu.agent;

import io.vgpu.agent.measure.ScrapeBench;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code make bench-agent}: what the agent costs, part by part, into one file. Each part replaces
 * its own key and leaves the others, so that parts can be measured apart ({@code
 * -Dbench.parts=scrape}). Not a test: nothing fails for being slow.
 */
final class AgentBench {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** One part. */
  interface Part {
    JsonNode measure(JsonMapper json) throws Exception;
  }

  private static Map<String, Part> parts(Predicate<String> wanted) {
    Map<String, Part> parts = new LinkedHashMap<>();
    parts.put("scrape", ScrapeBench::measure);
    CrowdedNodeBench crowd = new CrowdedNodeBench(wanted);
    for (String part : CrowdedNodeBench.PARTS) {
      parts.put(part, json -> crowd.part(json, part));
    }
    return parts;
  }

  private AgentBench() {}

  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    String wanted = System.getProperty("bench.parts", "");
    ObjectNode report =
        Files.exists(out) && JSON.readTree(out) instanceof ObjectNode before
            ? before
            : JSON.createObjectNode();
    ObjectNode machine = report.putObject("machine");
    machine.put("cpus", Runtime.getRuntime().availableProcessors());
    machine.put("java", System.getProperty("java.version", ""));
    Predicate<String> isWanted =
        name -> wanted.isEmpty() || List.of(wanted.split(",", -1)).contains(name);
    for (Map.Entry<String, Part> part : parts(isWanted).entrySet()) {
      if (isWanted.test(part.getKey())) {
        report.set(part.getKey(), part.getValue().measure(JSON));
      }
    }
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(out, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n");
    System.out.println(report.toPrettyString());
  }
}
