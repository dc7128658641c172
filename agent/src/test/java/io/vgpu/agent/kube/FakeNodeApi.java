package io.vgpu.agent.kube;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
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
  private final HttpServer server;
  private final String nodeJson;

  FakeNodeApi(Vertx vertx, String nodeJson)
      throws ExecutionException, InterruptedException, TimeoutException {
    this.nodeJson = nodeJson;
    this.server =
        vertx
            .createHttpServer()
            .requestHandler(this::answer)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS);
  }

  String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  private void answer(HttpServerRequest request) {
    requests.add(request.method() + " " + request.path());
    request
        .body()
        .onSuccess(
            body -> {
              if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                request.response().setStatusCode(503).end("{}");
                return;
              }
              if (request.method().name().equals("PATCH")) {
                patches.add(request.getHeader("Content-Type") + " " + body);
              }
              request.response().putHeader("Content-Type", "application/json").end(nodeJson);
            });
  }

  @Override
  public void close() {
    server.close();
  }
}
