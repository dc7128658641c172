package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.ClusterException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a container printed of itself ({@link VgpuPods}).
 *
 * @param env its variables named VGPU_, NVIDIA_ or CUDA_
 * @param mounts mount point to options, of ours
 * @param devices names below {@code /dev} that begin with nvidia
 * @param limits the device entries of its {@code limits} file
 * @param preload the text of {@code /etc/ld.so.preload} and how often the library is mapped
 */
public record ContainerView(
    Map<String, String> env,
    Map<String, String> mounts,
    List<String> devices,
    List<Limit> limits,
    List<String> preload,
    String raw) {
  /** One device entry, as shim-inspect prints it. */
  public record Limit(
      String uuid, int nvmlIndex, long memLimit, int coreHardPermille, int coreSoftPermille) {}

  /**
   * Reads a container's log; empty when it has not printed everything yet. The last complete print
   * counts.
   */
  public static Optional<ContainerView> parse(String log) {
    int end = log.lastIndexOf("### end");
    int begin = end < 0 ? -1 : log.lastIndexOf("### env", end);
    if (begin < 0) {
      return Optional.empty();
    }
    String print = log.substring(begin, end);
    Map<String, List<String>> sections = new LinkedHashMap<>();
    List<String> current = new ArrayList<>();
    for (String line : print.lines().toList()) {
      if (line.startsWith("### ")) {
        current = new ArrayList<>();
        sections.put(line.substring(4).strip(), current);
      } else {
        current.add(line);
      }
    }
    return Optional.of(
        new ContainerView(
            pairs(sections.getOrDefault("env", List.of()), "="),
            pairs(sections.getOrDefault("mounts", List.of()), " "),
            List.copyOf(sections.getOrDefault("devices", List.of())),
            limits(String.join("\n", sections.getOrDefault("limits", List.of()))),
            List.copyOf(sections.getOrDefault("preload", List.of())),
            print));
  }

  private static Map<String, String> pairs(List<String> lines, String separator) {
    Map<String, String> pairs = new TreeMap<>();
    for (String line : lines) {
      int at = line.indexOf(separator);
      if (at > 0) {
        pairs.put(line.substring(0, at), line.substring(at + 1));
      }
    }
    return pairs;
  }

  private static List<Limit> limits(String text) {
    int begin = text.indexOf('{');
    if (begin < 0) {
      return List.of();
    }
    try {
      List<Limit> limits = new ArrayList<>();
      for (JsonNode d : JsonMapper.shared().readTree(text.substring(begin)).path("devices")) {
        limits.add(
            new Limit(
                d.path("uuid").asString(""),
                d.path("nvml_index").asInt(-1),
                d.path("mem_limit").asLong(-1),
                d.path("core_hard_permille").asInt(-1),
                d.path("core_soft_permille").asInt(-1)));
      }
      return limits;
    } catch (JacksonException e) {
      throw new ClusterException("shim-inspect printed no JSON: " + text, e);
    }
  }
}
