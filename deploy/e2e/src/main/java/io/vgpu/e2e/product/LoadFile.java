package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the agent told a container of its first card, read on the host. */
public final class LoadFile {
  private LoadFile() {}

  /**
   * The agent's measurements of what a context takes.
   *
   * @param contextBytes what a process has beside what it was charged
   * @param samples how often that was measured
   * @param sampleNs when the agent last wrote how busy the container is, on the host's monotonic
   *     clock
   */
  public record Measured(long contextBytes, int samples, long sampleNs) {}

  /** Of a container of a pod, now. */
  public static Measured measured(
      Cluster cluster, Checkout checkout, String podUid, String container) {
    Path file =
        cluster
            .paths()
            .runDir()
            .resolve("manager")
            .resolve(podUid + "_" + container)
            .resolve("load");
    List<String> command =
        List.of(checkout.shim("shim-inspect").toString(), "--json", file.toString());
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new ClusterException(String.join(" ", command) + ": " + text.strip());
      }
      JsonNode card = JsonMapper.shared().readTree(text).path("devices").path(0);
      return new Measured(
          card.path("context_bytes").asLong(-1),
          card.path("context_sample").asInt(-1),
          card.path("sample_ns").asLong(-1));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + String.join(" ", command), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while reading " + file, e);
    }
  }
}
