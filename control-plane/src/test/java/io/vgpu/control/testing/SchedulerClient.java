package io.vgpu.control.testing;

import io.vgpu.control.cluster.NodeRecord;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Speaks to the extender as kube-scheduler does. */
public final class SchedulerClient implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final int port;

  public SchedulerClient(int port) {
    this.port = port;
  }

  /** Any request; a null body is a GET. */
  public HttpResponse<String> call(String path, @Nullable String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(60));
    if (body != null) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  public JsonNode filter(ObjectNode pod, List<String> nodes)
      throws IOException, InterruptedException {
    return JSON.readTree(call("/scheduler/filter", args(pod, nodes)).body());
  }

  public Map<String, Integer> prioritize(ObjectNode pod, List<String> nodes)
      throws IOException, InterruptedException {
    return scores("/scheduler/prioritize", pod, nodes);
  }

  /** Of any verb that scores; as with kube-scheduler, a node that is not named counts 0. */
  public Map<String, Integer> scores(String path, ObjectNode pod, List<String> nodes)
      throws IOException, InterruptedException {
    Map<String, Integer> scores = new LinkedHashMap<>();
    nodes.forEach(node -> scores.put(node, 0));
    for (JsonNode s : JSON.readTree(call(path, args(pod, nodes)).body())) {
      scores.put(s.get("Host").stringValue(), s.get("Score").intValue());
    }
    return scores;
  }

  /** The error of a bind, empty on success. */
  public String bind(ObjectNode pod, String node) throws IOException, InterruptedException {
    JsonNode meta = pod.get("metadata");
    return bind(meta.get("name").stringValue(), meta.get("uid").stringValue(), node);
  }

  public String bind(String name, String uid, String node)
      throws IOException, InterruptedException {
    String body =
        JSON.createObjectNode()
            .put("PodName", name)
            .put("PodNamespace", "ns")
            .put("PodUID", uid)
            .put("Node", node)
            .toString();
    return JSON.readTree(call("/scheduler/bind", body).body()).get("Error").stringValue();
  }

  /** The autoscaler's question: nodes in full, known to the cluster or not. */
  public JsonNode dryRun(ObjectNode pod, List<NodeRecord> nodes)
      throws IOException, InterruptedException {
    ObjectNode args = JSON.createObjectNode();
    args.set("Pod", pod);
    ObjectNode list = args.putObject("Nodes");
    var items = list.put("kind", "NodeList").putArray("items");
    nodes.forEach(n -> items.add(FakeObjects.node(n)));
    args.putNull("NodeNames");
    return JSON.readTree(call("/scheduler/filter-dryrun", args.toString()).body());
  }

  public static String args(ObjectNode pod, List<String> nodes) {
    ObjectNode args = JSON.createObjectNode();
    args.set("Pod", pod);
    args.putNull("Nodes");
    var names = args.putArray("NodeNames");
    nodes.forEach(names::add);
    return args.toString();
  }

  /** The strings of a JSON list. */
  public static List<String> strings(JsonNode list) {
    return list.valueStream().map(JsonNode::stringValue).toList();
  }

  @Override
  public void close() {
    client.close();
  }
}
