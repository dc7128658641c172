package io.vgpu.runtime;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.KeyCertOptions;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * {@code /healthz}, {@code /readyz}, {@code /metrics} of every process, apart from the ports that
 * serve verbs. A scrape reads what is in memory and asks nobody (D8). Answers are encoded as each
 * request accepts it.
 */
public final class OpsVerticle extends VerticleBase {
  private static final int IDLE_SECONDS = 60;

  private final String host;
  private final int port;
  private final Supplier<List<String>> missing;
  private final Pages pages;
  private final Page metrics;
  private final Optional<Certificate> certificate;

  /** Pages that a process serves beside the three; JSON. */
  @FunctionalInterface
  public interface Pages {
    /** The page at a path; empty where there is none. Called on the event loop. */
    Future<Optional<String>> at(String path);
  }

  /** Answers requests of one path; on the event loop, sooner or later. */
  @FunctionalInterface
  public interface Page {
    /** Must end the response. */
    void answer(HttpServerRequest request);
  }

  /** What a server on TLS shows. */
  public interface Certificate {
    /** The pair to start with. */
    Future<KeyCertOptions> read();

    /** The server listens: replace the pair there when there is a new one. */
    void follow(HttpServer server);
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
    this(host, port, request -> scrape(request, meters), missing, pages, Optional.empty());
  }

  /** With its own way of answering {@code /metrics}, and on TLS where there is a certificate. */
  public OpsVerticle(
      String host,
      int port,
      Page metrics,
      Supplier<List<String>> missing,
      Pages pages,
      Optional<Certificate> certificate) {
    this.pages = pages;
    this.host = host;
    this.port = port;
    this.metrics = metrics;
    this.missing = missing;
    this.certificate = certificate;
  }

  @Override
  public Future<?> start() {
    // by the request's Accept-Encoding, answer by answer; level 1, for the scrape's time
    HttpServerOptions options =
        new HttpServerOptions()
            .setIdleTimeout(IDLE_SECONDS)
            // a client that offers to go on in HTTP/2 is answered in HTTP/1.1: together with
            // compression the change of protocol broke answers off now and then
            .setHttp2ClearTextEnabled(false)
            .setCompressionSupported(true)
            .setCompressionLevel(1);
    if (certificate.isEmpty()) {
      return vertx.createHttpServer(options).requestHandler(this::answer).listen(port, host);
    }
    return certificate
        .get()
        .read()
        .compose(
            pair ->
                vertx
                    .createHttpServer(options.setSsl(true).setKeyCertOptions(pair))
                    .requestHandler(this::answer)
                    .listen(port, host))
        .onSuccess(server -> certificate.get().follow(server));
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
      case "/metrics" -> metrics.answer(request);
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

  /** Answers with all that the registry has. */
  public static void scrape(HttpServerRequest request, PrometheusMeterRegistry meters) {
    request
        .response()
        .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        .end(meters.scrape());
  }

  /** Answers with a line for people. */
  public static void text(HttpServerRequest request, int status, String body) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "text/plain; charset=utf-8")
        .end(body);
  }
}
