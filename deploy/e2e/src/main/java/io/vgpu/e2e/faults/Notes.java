package io.vgpu.e2e.faults;

import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The agent's notes as they lie on disk, read by somebody else than the agent. */
final class Notes {
  private Notes() {}

  /**
   * A pod in them.
   *
   * @param attached ids by container that has its files
   */
  record Noted(String uid, String name, boolean ended, Map<String, Set<String>> attached) {}

  /** Everybody in the file; it is replaced as a whole, so it is always complete. */
  static List<Noted> read(Path file) {
    try {
      List<String> lines = Files.readString(file).lines().toList();
      List<Noted> noted = new ArrayList<>();
      for (JsonNode pod : JsonMapper.shared().readTree(lines.getLast()).path("pods")) {
        Map<String, Set<String>> attached = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> held : pod.path("held").properties()) {
          if (held.getValue().path("stage").asString("").equals("ATTACHED")) {
            Set<String> ids = new TreeSet<>();
            held.getValue().path("ids").forEach(id -> ids.add(id.asString("")));
            attached.put(held.getKey(), ids);
          }
        }
        noted.add(
            new Noted(
                pod.path("uid").asString(""),
                pod.path("name").asString(""),
                pod.path("ended").asBoolean(false),
                attached));
      }
      return noted;
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException | JacksonException e) {
      throw new ClusterException("the agent's notes " + file + " cannot be read", e);
    }
  }
}
