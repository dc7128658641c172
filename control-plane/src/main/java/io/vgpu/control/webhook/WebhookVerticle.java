package io.vgpu.control.webhook;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.KeyCertOptions;
import io.vgpu.control.metrics.WebhookMeters;
import io.vgpu.kube.TlsReload;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The webhook's HTTPS server (control-plane.md 1.6): bounds bodies and times, renews its
 * certificate without a restart, and leaves every decision to {@link Admission}. A fault of ours
 * answers 500, so that the API server does what the configuration's failure policy says.
 */
public final class WebhookVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(WebhookVerticle.class);
  private static final int IDLE_SECONDS = 120; // API servers keep connections; a silent one is shut
  private static final Duration BODY_TIME = Duration.ofSeconds(10); // as webhooks are given at most

  private final String host;
  private final int port;
  private final TlsReload tls;
  private final Duration certificateInterval;
  private final Admission admission;
  private final WebhookMeters meters;

  /** {@code certificateInterval}: how often the files are looked at; zero never again. */
  public WebhookVerticle(
      String host,
      int port,
      TlsReload tls,
      Duration certificateInterval,
      Admission admission,
      MeterRegistry meters) {
    this.host = host;
    this.port = port;
    this.tls = tls;
    this.certificateInterval = certificateInterval;
    this.admission = admission;
    this.meters = new WebhookMeters(meters);
  }

  @Override
  public Future<?> start() {
    return tls.read().compose(this::listen);
  }

  private Future<?> listen(KeyCertOptions certificate) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(host)
            .setPort(port)
            .setSsl(true)
            .setUseAlpn(false) // HTTP/1.1 only
            .setKeyCertOptions(certificate)
            .setIdleTimeout(IDLE_SECONDS)
            .setIdleTimeoutUnit(TimeUnit.SECONDS);
    HttpServer server = vertx.createHttpServer(options).requestHandler(this::handle);
    return server.listen().onSuccess(s -> tls.follow(s, certificateInterval));
  }

  private void handle(HttpServerRequest request) {
    String path = request.path() == null ? "" : request.path();
    switch (path) {
      case "/healthz", "/readyz" -> send(request, Admission.Reply.text(200, "ok", "probe"));
      default -> {
        if (!Admission.serves(path)) {
          send(request, admission.answer(path, new byte[0]));
        } else if (request.method() != HttpMethod.POST) {
          send(request, Admission.Reply.text(405, "only POST", "malformed"));
        } else {
          review(request, path);
        }
      }
    }
  }

  private void review(HttpServerRequest request, String path) {
    Timer.Sample started = meters.review();
    body(request)
        // a fault inside fails the future instead of leaving the API server without an answer
        .map(body -> admission.answer(path, body.getBytes()))
        .recover(e -> Future.succeededFuture(failed(path, e)))
        .onSuccess(
            reply -> {
              send(request, reply);
              meters.answered(started, path, reply.outcome());
            });
  }

  private static Admission.Reply failed(String path, Throwable e) {
    if (e instanceof BodyException body) {
      return Admission.Reply.text(body.status, String.valueOf(e.getMessage()), "malformed");
    }
    log.error("review not answered [path: {}]", path, e);
    return Admission.Reply.text(500, "internal error: see the webhook's log", "failed");
  }

  private static final class BodyException extends RuntimeException {
    final int status;

    BodyException(int status, String message) {
      super(message);
      this.status = status;
    }
  }

  /** The whole body, or a failure as soon as it is longer or slower than allowed. */
  private Future<Buffer> body(HttpServerRequest request) {
    Promise<Buffer> whole = Promise.promise();
    Buffer read = Buffer.buffer();
    long timer =
        vertx.setTimer(
            BODY_TIME.toMillis(),
            t -> whole.tryFail(new BodyException(408, "the body did not come within 10 s")));
    request.handler(
        chunk -> {
          if (whole.future().isComplete()) {
            return; // refused already: what still comes is not kept
          }
          if (read.length() + chunk.length() > AdmissionReviews.MAX_BYTES) {
            whole.tryFail(
                new BodyException(
                    413, "the body is longer than " + AdmissionReviews.MAX_BYTES + " bytes"));
          } else {
            read.appendBuffer(chunk);
          }
        });
    request.exceptionHandler(e -> whole.tryFail(new BodyException(400, "the request broke off")));
    request.endHandler(v -> whole.tryComplete(read));
    return whole.future().onComplete(r -> vertx.cancelTimer(timer));
  }

  private static void send(HttpServerRequest request, Admission.Reply reply) {
    if (request.response().closed()) {
      return;
    }
    if (reply.status() == 408 || reply.status() == 413) {
      request.response().putHeader("Connection", "close");
    }
    request
        .response()
        .setStatusCode(reply.status())
        .putHeader("Content-Type", reply.contentType())
        .end(Buffer.buffer(reply.body()));
  }
}
