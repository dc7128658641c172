package io.vgpu.control.explain;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vgpu.claim.FormatException;
import io.vgpu.control.explain.DecisionFeed.Page;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches from every extender what it has decided since last time, so that it can still be told
 * when that extender is gone. The extender only answers: it waits for nobody and needs no right to
 * write here. One round at a time; an extender that does not answer is asked again in the next one.
 */
public final class ExplainCollector extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(ExplainCollector.class);
  private static final Duration WITHIN = Duration.ofSeconds(5);
  private static final int MOST_EXTENDERS = 16;
  private static final int PAGES_A_ROUND = 16;
  private static final int MOST_BYTES = 8 * 1024 * 1024;

  private final Supplier<List<URI>> extenders;
  private final ExplainStore store;
  private final Duration interval;
  private final Map<URI, Place> places = new HashMap<>();
  private final HttpClientAgent client;
  private boolean running;

  /** Up to where an extender has told. */
  private record Place(String instance, long sequence, boolean silent) {
    static final Place NEW = new Place("", 0, false);
  }

  /** {@code extenders}: health ports, asked for at each round off the event loop, may throw. */
  public ExplainCollector(
      Vertx vertx, Supplier<List<URI>> extenders, ExplainStore store, Duration interval) {
    this.client =
        vertx.createHttpClient(
            new HttpClientOptions().setConnectTimeout((int) WITHIN.toMillis()),
            new PoolOptions().setHttp1MaxSize(2));
    this.extenders = extenders;
    this.store = store;
    this.interval = interval;
  }

  @Override
  public Future<?> start() {
    vertx.setPeriodic(0, interval.toMillis(), t -> round());
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    return client.close();
  }

  private void round() {
    if (running) {
      return;
    }
    running = true;
    vertx
        .executeBlocking(extenders::get, false)
        .compose(this::askAll)
        .onComplete(
            done -> {
              running = false;
              if (done.failed()) {
                log.warn("extenders not found [cause: {}]", done.cause().toString());
              }
            });
  }

  private Future<Void> askAll(List<URI> all) {
    places.keySet().retainAll(all);
    List<Future<?>> asked = new ArrayList<>();
    all.stream().limit(MOST_EXTENDERS).forEach(at -> asked.add(askAndTell(at)));
    return Future.join(asked).<Void>mapEmpty().otherwiseEmpty();
  }

  private Future<Void> askAndTell(URI at) {
    return ask(at, PAGES_A_ROUND)
        .onFailure(
            e -> {
              Place place = places.getOrDefault(at, Place.NEW);
              if (!place.silent()) {
                log.warn("extender tells nothing [at: {}, cause: {}]", at, e.toString());
              }
              places.put(at, new Place(place.instance(), place.sequence(), true));
            });
  }

  private Future<Void> ask(URI at, int pages) {
    Place place = places.getOrDefault(at, Place.NEW);
    return fetch(at, place.sequence())
        .compose(
            page -> {
              boolean same = page.instance().equals(place.instance());
              if (!same && place.sequence() > 0) {
                // it was started again: everything it has now is new
                places.put(at, new Place(page.instance(), 0, false));
                return pages > 1 ? ask(at, pages - 1) : Future.succeededFuture();
              }
              page.entries().forEach(e -> store.put(e.namespace(), e.pod(), e.at(), e.json()));
              places.put(at, new Place(page.instance(), page.last(), false));
              return page.more() && pages > 1 ? ask(at, pages - 1) : Future.succeededFuture();
            });
  }

  private Future<Page> fetch(URI at, long since) {
    return client
        .request(
            new RequestOptions()
                .setMethod(HttpMethod.GET)
                .setAbsoluteURI(at.resolve("/decisions/" + since).toString())
                .setTimeout(WITHIN.toMillis()))
        .compose(request -> request.send().compose(ExplainCollector::body))
        .timeout(2 * WITHIN.toMillis(), TimeUnit.MILLISECONDS)
        .compose(
            text -> {
              try {
                return Future.succeededFuture(DecisionFeed.read(text));
              } catch (FormatException e) {
                return Future.failedFuture(e);
              }
            });
  }

  private static Future<String> body(HttpClientResponse response) {
    if (response.statusCode() != 200) {
      return Future.failedFuture(new IOException("status " + response.statusCode()));
    }
    Buffer all = Buffer.buffer();
    response.handler(
        part -> {
          if (all.length() + part.length() > MOST_BYTES) {
            response.request().reset();
          } else {
            all.appendBuffer(part);
          }
        });
    return response.end().map(v -> all.toString());
  }
}
