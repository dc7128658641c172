package io.vgpu.agent.testing;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An API server with one node and at most one pod, which a watch hears of; takes every write and
 * keeps none. Loopback only.
 */
final class OnePodApi implements AutoCloseable {
  private final String node;
  private final LoopbackServer server;
  private final List<HttpServerResponse> watches = new CopyOnWriteArrayList<>();
  private volatile @Nullable JsonObject pod;

  OnePodApi(Vertx vertx, String node)
      throws ExecutionException, InterruptedException, TimeoutException {
    this.node = node;
    this.server = new LoopbackServer(vertx, this::answer);
  }

  String url() {
    return server.url();
  }

  /** From now on the pod is there. */
  void bind(JsonObject pod) {
    this.pod = pod;
    watches.forEach(w -> w.write(added(pod)));
  }

  private static String added(JsonObject pod) {
    return new JsonObject().put("type", "ADDED").put("object", pod).encode() + "\n";
  }

  private void answer(HttpServerRequest request, String unusedBody) {
    String path = request.path();
    JsonObject present = pod;
    boolean pods = path.endsWith("/pods");
    if (pods && "true".equals(request.getParam("watch"))) {
      watch(request, present);
    } else if (pods) {
      JsonArray items = present == null ? new JsonArray() : new JsonArray().add(present);
      send(
          request,
          200,
          object("PodList")
              .put("metadata", new JsonObject().put("resourceVersion", "1"))
              .put("items", items));
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

  private void watch(HttpServerRequest request, @Nullable JsonObject present) {
    if (request.getHeader("Upgrade") != null) {
      request.response().end(); // no WebSockets here: the client goes on without
      return;
    }
    HttpServerResponse response =
        request.response().setChunked(true).putHeader("Content-Type", "application/json");
    response.closeHandler(closed -> watches.remove(response));
    response.writeHead();
    watches.add(response);
    if (present != null) {
      response.write(added(present));
    }
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
