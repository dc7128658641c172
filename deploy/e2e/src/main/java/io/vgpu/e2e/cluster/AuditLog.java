package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the apiserver's audit log, which records every verb of every account. A request is counted
 * once, though a watch has two lines (begun, ended). Safe for several threads.
 */
public final class AuditLog {
  private final Path file;

  AuditLog(Path file) {
    this.file = file;
  }

  /**
   * One request: who asked what of which object, the answer's status (0 while a watch runs), and
   * when the API server had answered.
   */
  public record Request(
      String id,
      String user,
      String verb,
      String group,
      String resource,
      String subresource,
      String namespace,
      String name,
      String uri,
      int status,
      Instant ended) {}

  /** A place in the log, for {@link #since}: everything written up to now lies before it. */
  public long position() {
    try {
      return Files.exists(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the size of " + file, e);
    }
  }

  /**
   * The requests that were written after the position, in order; a line that is still being written
   * is left out.
   */
  public List<Request> since(long position) {
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      byte[] bytes = new byte[Math.toIntExact(Math.max(0, log.length() - position))];
      log.seek(position);
      log.readFully(bytes);
      return parse(new String(bytes, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  static List<Request> parse(String text) {
    List<Request> requests = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    int complete = text.lastIndexOf('\n') + 1;
    for (String line : text.substring(0, complete).lines().toList()) {
      JsonNode event = JsonMapper.shared().readTree(line);
      JsonNode object = event.path("objectRef");
      String id = event.path("auditID").asString("");
      if (seen.add(id)) {
        requests.add(
            new Request(
                id,
                event.path("user").path("username").asString(""),
                event.path("verb").asString(""),
                object.path("apiGroup").asString(""),
                object.path("resource").asString(""),
                object.path("subresource").asString(""),
                object.path("namespace").asString(""),
                object.path("name").asString(""),
                event.path("requestURI").asString(""),
                event.path("responseStatus").path("code").asInt(0),
                Instant.parse(event.path("stageTimestamp").asString("1970-01-01T00:00:00Z"))));
      }
    }
    return requests;
  }
}
