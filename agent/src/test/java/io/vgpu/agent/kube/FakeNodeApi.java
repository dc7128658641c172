package io.vgpu.agent.kube;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vgpu.agent.testing.LoopbackServer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An API server that knows one node: keeps what it was asked, answers failures as long as the test
 * says.
 */
final class FakeNodeApi implements AutoCloseable {
  final List<String> requests = new CopyOnWriteArrayList<>();
  final List<String> patches = new CopyOnWriteArrayList<>();
  final AtomicInteger failures = new AtomicInteger();
  private final LoopbackServer server;
  private final String nodeJson;

  FakeNodeApi(Vertx vertx, String nodeJson)
      throws ExecutionException, InterruptedException, TimeoutException {
    this.nodeJson = nodeJson;
    this.server = new LoopbackServer(vertx, this::answer);
  }

  String url() {
    return server.url();
  }

  private void answer(HttpServerRequest request, String body) {
    requests.add(request.method() + " " + request.path());
    if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
      LoopbackServer.json(request, 503, "{}");
      return;
    }
    if (request.method().name().equals("PATCH")) {
      patches.add(request.getHeader("Content-Type") + " " + body);
    }
    LoopbackServer.json(request, 200, nodeJson);
  }

  @Override
  public void close() {
    server.close();
  }
}
