package io.vgpu.agent.testing;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.KeyCertOptions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An API server with one node and the pods bound to it, which a watch hears of, and that node's
 * kubelet's {@code /pods}; takes every write, and keeps annotations and labels of pods. Loopback
 * only.
 */
final class NodeApi implements AutoCloseable {
  private final String node;
  private final LoopbackServer server;
  private final List<HttpServerResponse> watches = new CopyOnWriteArrayList<>();
  private final Map<String, JsonObject> pods = new ConcurrentSkipListMap<>();
  private final Map<String, JsonObject> marks = new ConcurrentSkipListMap<>(); // by pod, as patched

  /** On TLS where there is a certificate. */
  NodeApi(Vertx vertx, String node, @Nullable KeyCertOptions certificate)
      throws ExecutionException, InterruptedException, TimeoutException {
    this.node = node;
    this.server = new LoopbackServer(vertx, certificate, this::answer);
  }

  String url() {
    return server.url();
  }

  /** From now on the pod is there, and is as this says. */
  void bind(JsonObject pod) {
    JsonObject marked = marks.get(name(pod));
    if (marked != null) {
      pod.mergeIn(marked, true);
    }
    tell(pods.put(name(pod), pod) == null ? "ADDED" : "MODIFIED", pod);
  }

  /** From now on it is not there. */
  void remove(String name) {
    marks.remove(name);
    JsonObject gone = pods.remove(name);
    if (gone != null) {
      tell("DELETED", gone);
    }
  }

  private static String name(JsonObject pod) {
    return pod.getJsonObject("metadata").getString("name");
  }

  private void tell(String type, JsonObject pod) {
    String line = line(type, pod);
    watches.forEach(w -> w.write(line));
  }

  private static String line(String type, JsonObject pod) {
    return new JsonObject().put("type", type).put("object", pod).encode() + "\n";
  }

  private void answer(HttpServerRequest request, String body) {
    String path = request.path();
    JsonObject present = pods.get(path.substring(path.lastIndexOf('/') + 1));
    if (present != null && request.method() == HttpMethod.PATCH) {
      mark(present, new JsonObject(body));
    }
    boolean list = path.endsWith("/pods");
    if (list && "true".equals(request.getParam("watch"))) {
      watch(request);
    } else if (list) {
      send(
          request,
          200,
          object("PodList")
              .put("metadata", new JsonObject().put("resourceVersion", "1"))
              .put("items", new JsonArray(List.copyOf(pods.values()))));
    } else if (path.equals("/api/v1/nodes/" + node)) {
      send(request, 200, object("Node").put("metadata", new JsonObject().put("name", node)));
    } else if (path.contains("/pods/") && present != null) {
      send(request, 200, present);
    } else if (request.method() == HttpMethod.GET) {
      send(request, 404, object("Status").put("status", "Failure").put("code", 404));
    } else {
      send(request, 200, object(path.contains("/events") ? "Event" : "Status"));
    }
  }

  private void mark(JsonObject pod, JsonObject patch) {
    JsonObject metadata = new JsonObject();
    for (String field : List.of("annotations", "labels")) {
      JsonObject value = patch.getJsonObject("metadata", new JsonObject()).getJsonObject(field);
      if (value != null) {
        metadata.put(field, value);
      }
    }
    marks
        .computeIfAbsent(name(pod), n -> new JsonObject())
        .mergeIn(new JsonObject().put("metadata", metadata), true);
    bind(pod.copy());
  }

  private void watch(HttpServerRequest request) {
    if (request.getHeader("Upgrade") != null) {
      request.response().end(); // no WebSockets here: the client goes on without
      return;
    }
    HttpServerResponse response =
        request.response().setChunked(true).putHeader("Content-Type", "application/json");
    response.closeHandler(closed -> watches.remove(response));
    response.writeHead();
    watches.add(response);
    // also those of the list: one may have come between list and watch
    pods.values().forEach(pod -> response.write(line("ADDED", pod)));
  }

  private static JsonObject object(String kind) {
    return new JsonObject().put("apiVersion", "v1").put("kind", kind);
  }

  private static void send(HttpServerRequest request, int status, JsonObject json) {
    LoopbackServer.json(request, status, json.encode());
  }

  @Override
  public void close() {
    server.close();
  }
}
