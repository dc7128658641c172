package io.vgpu.agent.testing;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.KeyCertOptions;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** An HTTP server on loopback whose answers are the test's, on one event loop. */
public final class LoopbackServer implements AutoCloseable {
  private static final long BOUND = 10;

  private final HttpServer server;
  private final String scheme;

  /** {@code answer} gets each request with its whole body. */
  public LoopbackServer(Vertx vertx, BiConsumer<HttpServerRequest, String> answer)
      throws ExecutionException, InterruptedException, TimeoutException {
    this(vertx, null, answer);
  }

  /** The same, on TLS where there is a certificate. */
  public LoopbackServer(
      Vertx vertx,
      @Nullable KeyCertOptions certificate,
      BiConsumer<HttpServerRequest, String> answer)
      throws ExecutionException, InterruptedException, TimeoutException {
    this.scheme = certificate == null ? "http" : "https";
    this.server =
        vertx
            .createHttpServer(
                certificate == null
                    ? new HttpServerOptions()
                    : new HttpServerOptions().setSsl(true).setKeyCertOptions(certificate))
            .requestHandler(
                request -> request.bodyHandler(body -> answer.accept(request, body.toString())))
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(BOUND, TimeUnit.SECONDS);
  }

  public String url() {
    return scheme + "://127.0.0.1:" + server.actualPort();
  }

  /** Answers with JSON. */
  public static void json(HttpServerRequest request, int status, String json) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "application/json")
        .end(json);
  }

  @Override
  public void close() {
    server.close();
  }
}
