package io.vgpu.agent.kubelet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which container holds which devices, by the kubelet's own file. For looks that come by the clock:
 * the pod-resources {@code List} may cost an admission its devices. Reads one file; lane {@code
 * files}.
 */
public final class KubeletCheckpoint {
  public static final String FILE = "kubelet_internal_checkpoint";
  private static final long MAX_BYTES = 32L << 20;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Path file;

  /** {@code devicePlugins}: the kubelet's folder of device plugins. */
  public KubeletCheckpoint(Path devicePlugins) {
    this.file = devicePlugins.resolve(FILE);
  }

  /** Whose a device is. */
  public record Holder(String podUid, String container) {}

  /**
   * The holders of all devices of resources whose names begin with {@code prefix}, by device id.
   * None when there is no file yet; a file that cannot be read throws.
   */
  public Map<String, Holder> holders(String prefix) throws IOException {
    JsonNode root;
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new IOException(file + ": is too large");
      }
      root = JSON.readTree(Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      return Map.of();
    } catch (JacksonException e) {
      throw new IOException(file + ": cannot be read", e);
    }
    Map<String, Holder> holders = new HashMap<>();
    // wrapped since checksums are kept; without Data before that
    for (JsonNode entry : root.path("Data").path("PodDeviceEntries")) {
      read(entry, prefix, holders);
    }
    for (JsonNode entry : root.path("PodDeviceEntries")) {
      read(entry, prefix, holders);
    }
    return holders;
  }

  private static void read(JsonNode entry, String prefix, Map<String, Holder> holders) {
    if (!entry.path("ResourceName").asString("").startsWith(prefix)) {
      return;
    }
    Holder holder =
        new Holder(entry.path("PodUID").asString(""), entry.path("ContainerName").asString(""));
    JsonNode ids = entry.path("DeviceIDs"); // by NUMA node, or a plain list
    for (JsonNode id : ids) {
      if (id.isArray()) {
        id.forEach(inner -> holders.put(inner.asString(""), holder));
      } else {
        holders.put(id.asString(""), holder);
      }
    }
  }
}
