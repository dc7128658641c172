package io.vgpu.runtime;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * {@code /healthz}, {@code /readyz}, {@code /metrics} of every process, apart from the ports that
 * serve verbs. A scrape reads what is in memory and asks nobody (D8).
 */
public final class OpsVerticle extends VerticleBase {
  private final String host;
  private final int port;
  private final PrometheusMeterRegistry meters;
  private final Supplier<List<String>> missing;
  private final Pages pages;

  /** Pages that a process serves beside the three; JSON. */
  @FunctionalInterface
  public interface Pages {
    /** The page at a path; empty where there is none. Called on the event loop. */
    Future<Optional<String>> at(String path);
  }

  /**
   * {@code missing}: what the process still waits for before it is ready; empty when ready. Called
   * on the event loop.
   */
  public OpsVerticle(
      String host, int port, PrometheusMeterRegistry meters, Supplier<List<String>> missing) {
    this(host, port, meters, missing, path -> Future.succeededFuture(Optional.empty()));
  }

  /** With pages of its own. */
  public OpsVerticle(
      String host,
      int port,
      PrometheusMeterRegistry meters,
      Supplier<List<String>> missing,
      Pages pages) {
    this.pages = pages;
    this.host = host;
    this.port = port;
    this.meters = meters;
    this.missing = missing;
  }

  @Override
  public Future<?> start() {
    return vertx.createHttpServer().requestHandler(this::answer).listen(port, host);
  }

  private void answer(HttpServerRequest request) {
    if (request.method() != HttpMethod.GET && request.method() != HttpMethod.HEAD) {
      text(request, 405, "only GET\n");
      return;
    }
    switch (request.path()) {
      case "/healthz" -> text(request, 200, "ok");
      case "/readyz" -> {
        List<String> waitingFor = missing.get();
        if (waitingFor.isEmpty()) {
          text(request, 200, "ok");
        } else {
          text(request, 500, "not ready, waiting for: " + String.join(", ", waitingFor) + "\n");
        }
      }
      case "/metrics" -> {
        request
            .response()
            .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            .end(meters.scrape());
      }
      default ->
          pages
              .at(request.path())
              .onComplete(
                  page -> {
                    if (page.failed()) {
                      text(request, 503, page.cause().getMessage() + "\n");
                    } else if (page.result().isPresent()) {
                      request
                          .response()
                          .putHeader("Content-Type", "application/json")
                          .end(page.result().get());
                    } else {
                      text(
                          request,
                          404,
                          "nothing at "
                              + request.path()
                              + "; here are /healthz, /readyz and /metrics\n");
                    }
                  });
    }
  }

  private static void text(HttpServerRequest request, int status, String body) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "text/plain; charset=utf-8")
        .end(body);
  }
}
