package io.vgpu.agent;

import io.vgpu.agent.measure.ScrapeBench;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
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

  private static Map<String, Part> parts() {
    Map<String, Part> parts = new LinkedHashMap<>();
    parts.put("scrape", ScrapeBench::measure);
    CrowdedNodeBench crowd = new CrowdedNodeBench();
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
    for (Map.Entry<String, Part> part : parts().entrySet()) {
      if (wanted.isEmpty() || ("," + wanted + ",").contains("," + part.getKey() + ",")) {
        report.set(part.getKey(), part.getValue().measure(JSON));
      }
    }
    Files.createDirectories(out.toAbsolutePath().getParent());
    Files.writeString(out, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n");
    System.out.println(report.toPrettyString());
  }
}
