package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks the live extender as the cluster autoscaler does, with whole nodes. One thread at a time.
 */
final class DryRuns {
  private static final String PATH = "/scheduler/filter-dryrun";

  /** The verbs are on the namespace's loopback: only a process inside can ask. */
  private static final String POST =
      """
      exec 3<>/dev/tcp/127.0.0.1/3456
      printf 'POST %s HTTP/1.1\\r\\nHost: extender\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n' \
        "$2" "$(stat -c %s "$1")" >&3
      cat "$1" >&3
      cat <&3
      """;

  private final Cluster cluster;
  private final Path body;
  private int answers;

  DryRuns(Cluster cluster) {
    this.cluster = cluster;
    this.body = cluster.paths().runDir().resolve("dry-run.json");
  }

  /** What is asked from now on. */
  void question(Pod pod, List<Node> nodes) {
    KubernetesSerialization json = new KubernetesSerialization();
    try {
      Files.writeString(
          body,
          "{\"Pod\":%s,\"Nodes\":{\"items\":%s},\"NodeNames\":null}"
              .formatted(json.asJson(pod), json.asJson(nodes)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + body, e);
    }
  }

  /** Asks once; the names of the nodes that would do. */
  TreeSet<String> ask() {
    String reply = cluster.inNetns(List.of("bash", "-c", POST, "dry-run", body.toString(), PATH));
    if (!reply.startsWith("HTTP/1.1 200")) {
      throw new ClusterException("filter-dryrun: " + reply.lines().findFirst().orElse("no answer"));
    }
    JsonNode answer = JsonMapper.shared().readTree(reply.substring(reply.indexOf("\r\n\r\n")));
    String error = answer.path("Error").asString("");
    if (!error.isEmpty()) {
      throw new ClusterException("filter-dryrun refused: " + error);
    }
    answers++;
    TreeSet<String> names = new TreeSet<>();
    answer
        .path("Nodes")
        .path("items")
        .forEach(n -> names.add(n.path("metadata").path("name").asString()));
    return names;
  }

  int answers() {
    return answers;
  }
}
