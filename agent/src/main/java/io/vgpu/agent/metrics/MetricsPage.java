package io.vgpu.agent.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vgpu.runtime.OpsVerticle;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code /metrics} of the agent (node-agent.md 7.1): asks who scrapes where that is wanted, makes
 * the text at most once an interval and says the same again in between, counts what it answers. The
 * text is kept without an encoding: each answer has that of its own request. On the event loop.
 */
public final class MetricsPage implements OpsVerticle.Page {
  private static final Logger log = LoggerFactory.getLogger(MetricsPage.class);
  static final int MAX_IN_FLIGHT = 64;

  /** Says whether somebody may scrape. */
  public interface Access {
    /**
     * Completes on the caller's context; never fails. {@code bearer}: empty when none was shown.
     */
    Future<Verdict> of(String bearer);
  }

  /** An answer of {@link Access}. */
  public enum Verdict {
    ALLOWED(200),
    /** Nobody that the API server knows. */
    UNKNOWN(401),
    FORBIDDEN(403),
    /** It could not be found out now. */
    UNAVAILABLE(503);

    private final int status;

    Verdict(int status) {
      this.status = status;
    }
  }

  private final PrometheusMeterRegistry meters;
  private final Optional<Access> access;
  private final long intervalNs;
  private final LongSupplier nanoTime;
  private final AtomicInteger inFlight = new AtomicInteger();
  private @Nullable Buffer text;
  private long madeNs;
  private int lastSize = 64 << 10;

  /** {@code access}: empty lets everybody scrape. */
  public MetricsPage(
      PrometheusMeterRegistry meters,
      Optional<Access> access,
      Duration interval,
      LongSupplier nanoTime) {
    this.meters = meters;
    this.access = access;
    this.intervalNs = interval.toNanos();
    this.nanoTime = nanoTime;
    Gauge.builder(AgentMeters.SCRAPES_IN_FLIGHT.exposedName(), inFlight, AtomicInteger::get)
        .description(AgentMeters.SCRAPES_IN_FLIGHT.meaning())
        .register(meters);
  }

  @Override
  public void answer(HttpServerRequest request) {
    if (inFlight.incrementAndGet() > MAX_IN_FLIGHT) {
      refuse(request, 503, "too many scrapes are under way");
      return;
    }
    if (access.isEmpty()) {
      scrape(request);
      return;
    }
    access
        .get()
        .of(bearer(request))
        .onComplete(
            asked -> {
              Verdict verdict = asked.succeeded() ? asked.result() : Verdict.UNAVAILABLE;
              if (verdict == Verdict.ALLOWED) {
                scrape(request);
              } else {
                refuse(request, verdict.status, verdict.name().toLowerCase(Locale.ROOT));
              }
            });
  }

  private static String bearer(HttpServerRequest request) {
    String header = request.getHeader("Authorization");
    return header != null && header.regionMatches(true, 0, "Bearer ", 0, 7)
        ? header.substring(7).strip()
        : "";
  }

  private void scrape(HttpServerRequest request) {
    HttpServerResponse response = request.response();
    Buffer made = text;
    if (made != null && nanoTime.getAsLong() - madeNs < intervalNs) {
      response.putHeader("X-Rate-Limited", "true");
    } else {
      try {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(lastSize + lastSize / 8);
        meters.scrape(bytes);
        made = Buffer.buffer(bytes.toByteArray());
        lastSize = made.length();
      } catch (IOException | IllegalArgumentException | IllegalStateException e) {
        log.error("scrape failed", e);
        AgentMeters.SCRAPE_ERRORS.counter(meters, "gathering").increment();
        refuse(request, 500, "the metrics could not be gathered");
        return;
      }
      text = made;
      madeNs = nanoTime.getAsLong();
    }
    response.putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8").end(made);
    ended(200);
  }

  private void refuse(HttpServerRequest request, int status, String why) {
    OpsVerticle.text(request, status, why + "\n");
    ended(status);
  }

  private void ended(int status) {
    inFlight.decrementAndGet();
    AgentMeters.SCRAPES.counter(meters, Integer.toString(status)).increment();
  }
}
