package io.vgpu.control.scheduler;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vgpu.runtime.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The extender's HTTP face (control-plane.md 1.1): bodies with a bound, answers from {@link
 * ExtenderService}. Sockets only; everything that takes time happens elsewhere.
 */
public final class ExtenderVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(ExtenderVerticle.class);

  /** Requests carry node names; whole nodes are for the dry run. */
  static final int MAX_BODY = 2 * 1024 * 1024;

  /** A dry run carries whole nodes: tens of thousands of bytes each. */
  static final int MAX_DRY_RUN_BODY = 64 * 1024 * 1024;

  private static final long BODY_WITHIN_MS = 60_000;

  private final String host;
  private final int port;
  private final Supplier<Future<HttpServerOptions>> options;
  private final Consumer<HttpServer> started;
  private final ExtenderService service;
  private final RareVerbs rare;
  private final Turnstile dryRuns;
  private final Supplier<String> notReady;

  /**
   * @param options TLS and limits, read anew by each instance
   * @param started told of the running server, e.g. to renew its certificate
   * @param notReady what is waited for, empty when ready
   */
  ExtenderVerticle(
      String host,
      int port,
      Supplier<Future<HttpServerOptions>> options,
      Consumer<HttpServer> started,
      ExtenderService service,
      RareVerbs rare,
      Turnstile dryRuns,
      Supplier<String> notReady) {
    this.host = host;
    this.port = port;
    this.options = options;
    this.started = started;
    this.service = service;
    this.rare = rare;
    this.dryRuns = dryRuns;
    this.notReady = notReady;
  }

  @Override
  public Future<?> start() {
    return options
        .get()
        .compose(o -> vertx.createHttpServer(o).requestHandler(this::route).listen(port, host))
        .onSuccess(started::accept);
  }

  private void route(HttpServerRequest request) {
    switch (request.path()) {
      case "/scheduler/filter" -> verb(request, MAX_BODY, service::filter);
      case "/scheduler/prioritize" -> verb(request, MAX_BODY, service::prioritize);
      case "/scheduler/steer" -> verb(request, MAX_BODY, service::steer);
      case "/scheduler/bind" -> verb(request, MAX_BODY, service::bind);
      case "/scheduler/preempt" -> verb(request, MAX_BODY, rare::preempt);
      case "/scheduler/filter-dryrun" -> dryRun(request);
      case "/version" -> send(request, Reply.text(200, Version.current() + "\n"));
      case "/healthz" -> send(request, Reply.text(200, "ok"));
      case "/readyz" -> {
        String missing = notReady.get();
        send(
            request,
            missing.isEmpty()
                ? Reply.text(200, "ok")
                : Reply.text(500, "not ready, waiting for: " + missing + "\n"));
      }
      default ->
          send(
              request,
              Reply.text(
                  404,
                  "here are /scheduler/filter, /scheduler/prioritize, /scheduler/steer,"
                      + " /scheduler/bind, /scheduler/preempt and /scheduler/filter-dryrun\n"));
    }
  }

  /** One body of this size at a time, so that they need no room beside each other. */
  private void dryRun(HttpServerRequest request) {
    request.pause();
    Context context = vertx.getOrCreateContext();
    dryRuns
        .enter()
        .onComplete(
            turn ->
                context.runOnContext(
                    v -> {
                      request.resume();
                      if (turn.failed()) {
                        send(request, Reply.text(503, turn.cause().getMessage() + "\n"));
                        return;
                      }
                      request.response().endHandler(sent -> turn.result().leave());
                      request.response().closeHandler(gone -> turn.result().leave());
                      if (request.response().closed()) {
                        turn.result().leave();
                      } else {
                        verb(request, MAX_DRY_RUN_BODY, rare::dryRun);
                      }
                    }));
  }

  private void verb(HttpServerRequest request, int maxBody, Function<byte[], Future<Reply>> verb) {
    if (request.method() != HttpMethod.POST) {
      send(request, Reply.text(405, "only POST\n"));
      return;
    }
    if (announced(request) > maxBody) {
      send(request, tooLarge(maxBody));
      return;
    }
    Context context = vertx.getOrCreateContext();
    new Body(request, maxBody)
        .read(
            body -> {
              if (body.length == 0) {
                send(request, Reply.text(400, "Please send a request body\n"));
              } else {
                verb.apply(body)
                    .onComplete(
                        reply ->
                            context.runOnContext(
                                v -> {
                                  if (reply.failed()) {
                                    log.error(
                                        "verb broke off [path: {}]", request.path(), reply.cause());
                                  }
                                  send(
                                      request,
                                      reply.succeeded()
                                          ? reply.result()
                                          : Reply.text(500, "internal error, see the log\n"));
                                }));
              }
            });
  }

  /** Collects one body, within size and time. */
  private final class Body {
    private final HttpServerRequest request;
    private final List<Buffer> chunks = new ArrayList<>();
    private int size;
    private final int maxBody;
    private boolean over;

    Body(HttpServerRequest request, int maxBody) {
      this.request = request;
      this.maxBody = maxBody;
    }

    void read(Consumer<byte[]> then) {
      long timer =
          vertx.setTimer(BODY_WITHIN_MS, t -> refuse(Reply.text(408, "body came too slowly\n")));
      request.exceptionHandler(
          gone -> {
            vertx.cancelTimer(timer);
            over = true;
          });
      request.handler(
          chunk -> {
            if (!over) {
              if (size + chunk.length() > maxBody) {
                vertx.cancelTimer(timer);
                refuse(tooLarge(maxBody));
              } else {
                chunks.add(chunk);
                size += chunk.length();
              }
            }
          });
      request.endHandler(
          end -> {
            vertx.cancelTimer(timer);
            if (!over) {
              over = true;
              then.accept(whole());
            }
          });
    }

    /** Copied once: a buffer that grows copies several times. */
    private byte[] whole() {
      byte[] whole = new byte[size];
      int at = 0;
      for (Buffer chunk : chunks) {
        chunk.getBytes(whole, at);
        at += chunk.length();
      }
      chunks.clear();
      return whole;
    }

    private void refuse(Reply reply) {
      chunks.clear();
      over = true;
      send(request, reply);
    }
  }

  private static long announced(HttpServerRequest request) {
    String length = request.getHeader("Content-Length");
    // a length that is no number never gets here: the codec refuses the request
    return length == null || !length.matches("[0-9]{1,18}") ? 0 : Long.parseLong(length);
  }

  private static Reply tooLarge(int maxBody) {
    return Reply.text(
        413,
        "request body over the limit of "
            + maxBody
            + " bytes ("
            + maxBody / (1024 * 1024)
            + " MiB): send "
            + (maxBody == MAX_BODY ? "node names" : "fewer nodes")
            + "\n");
  }

  private static void send(HttpServerRequest request, Reply reply) {
    HttpServerResponse response = request.response();
    if (response.ended() || response.closed()) {
      return;
    }
    if (reply.status() == 413 || reply.status() == 408) {
      // the rest of the body is not read, so the connection cannot be used again
      response.putHeader("Connection", "close");
    }
    response
        .setStatusCode(reply.status())
        .putHeader("Content-Type", reply.contentType())
        .end(reply.body());
  }
}
