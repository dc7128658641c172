package io.vgpu.e2e.state;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** kube-scheduler's part, one call at a time: filter, prioritize, bind. Any thread. */
final class SchedulerStandIn {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final ExtenderProcess extender;

  SchedulerStandIn(ExtenderProcess extender) {
    this.extender = extender;
  }

  /** What filter says: the nodes that fit, and of each other one why not. */
  record Filtered(List<String> fits, Map<String, String> refused, String error) {}

  /** How one cycle ended. */
  sealed interface Outcome {
    /** Bound, says the extender. */
    record Bound(String node) implements Outcome {}

    /** No node fits. */
    record NoFit(Map<String, String> refused) implements Outcome {}

    /** Bind, or filter as a whole, was refused. */
    record Refused(String why) implements Outcome {}

    /** No answer: the extender died. */
    record Silence(IOException cause) implements Outcome {}
  }

  /** One pod's whole cycle. */
  Outcome cycle(Pod pod, List<String> nodes) {
    try {
      Filtered filtered = filter(pod, nodes);
      if (!filtered.error().isEmpty()) {
        return new Outcome.Refused(filtered.error());
      }
      if (filtered.fits().isEmpty()) {
        return new Outcome.NoFit(filtered.refused());
      }
      String node = best(pod, filtered.fits());
      String error = bind(pod, node);
      return error.isEmpty() ? new Outcome.Bound(node) : new Outcome.Refused(error);
    } catch (IOException e) {
      return new Outcome.Silence(e);
    }
  }

  Filtered filter(Pod pod, List<String> nodes) throws IOException {
    JsonNode answer = JSON.readTree(extender.post("filter", args(pod, nodes)));
    List<String> fits = new ArrayList<>();
    answer.path("NodeNames").forEach(n -> fits.add(n.asString()));
    Map<String, String> refused = new LinkedHashMap<>();
    answer
        .path("FailedNodes")
        .properties()
        .forEach(e -> refused.put(e.getKey(), e.getValue().asString()));
    return new Filtered(fits, refused, answer.path("Error").asString(""));
  }

  /** As kube-scheduler does: a node without a score has 0. */
  private String best(Pod pod, List<String> nodes) throws IOException {
    Map<String, Integer> scores = new HashMap<>();
    JSON.readTree(extender.post("prioritize", args(pod, nodes)))
        .forEach(s -> scores.put(s.path("Host").asString(), s.path("Score").asInt()));
    return Collections.max(nodes, Comparator.comparingInt(n -> scores.getOrDefault(n, 0)));
  }

  /** The error, empty on success. */
  String bind(Pod pod, String node) throws IOException {
    ObjectNode args =
        JSON.createObjectNode()
            .put("PodName", pod.getMetadata().getName())
            .put("PodNamespace", pod.getMetadata().getNamespace())
            .put("PodUID", pod.getMetadata().getUid())
            .put("Node", node);
    return JSON.readTree(extender.post("bind", args.toString())).path("Error").asString("");
  }

  /** The autoscaler's question about nodes given in full. */
  JsonNode dryRun(Pod pod, List<String> nodesAsJson) throws IOException {
    String body =
        "{\"Pod\":"
            + Serialization.asJson(pod)
            + ",\"NodeNames\":null,\"Nodes\":{\"kind\":\"NodeList\",\"items\":["
            + String.join(",", nodesAsJson)
            + "]}}";
    return JSON.readTree(extender.post("filter-dryrun", body));
  }

  private static String args(Pod pod, List<String> nodes) {
    ObjectNode args = JSON.createObjectNode();
    args.set("Pod", JSON.readTree(Serialization.asJson(pod)));
    args.putNull("Nodes");
    ArrayNode names = args.putArray("NodeNames");
    nodes.forEach(names::add);
    return args.toString();
  }
}
