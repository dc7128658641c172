package io.vgpu.agent.kube;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.metrics.MetricsPage;
import io.vgpu.agent.metrics.MetricsPage.Verdict;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Who may scrape, by the API server's word ({@code --enable-rbac}): a TokenReview, then a
 * SubjectAccessReview for {@code get /metrics}. Its answers are kept for a while, so that a scrape
 * seldom waits; askers of the same token wait together; what is beyond the bounds is unavailable,
 * never allowed. Tokens themselves are not kept. Any event loop.
 */
public final class ScrapeAccess implements MetricsPage.Access {
  static final Duration KEEP_ALLOWED = Duration.ofMinutes(1);
  static final Duration KEEP_REFUSED = Duration.ofSeconds(10);
  static final int MAX_KEPT = 256;
  static final int MAX_UNDER_WAY = 4;
  private static final int MAX_TOKEN = 16_384;

  /** Asks the API server; blocks. */
  public interface Reviews {
    /** Never {@link Verdict#UNAVAILABLE}: what cannot be found out throws. */
    Verdict review(String token) throws ReviewFailed;
  }

  /** The API server could not be asked. */
  public static final class ReviewFailed extends Exception {
    private static final long serialVersionUID = 1;

    public ReviewFailed(String message) {
      super(message);
    }
  }

  private record Kept(Verdict verdict, long untilNs) {}

  private final Vertx vertx;
  private final Reviews reviews;
  private final LongSupplier nanoTime;
  private final MeterRegistry meters;
  private final Map<String, Kept> kept = new LinkedHashMap<>(); // guarded by this
  private final Map<String, List<Promise<Verdict>>> waiting = new HashMap<>(); // guarded by this

  public ScrapeAccess(Vertx vertx, Reviews reviews, LongSupplier nanoTime, MeterRegistry meters) {
    this.vertx = vertx;
    this.reviews = reviews;
    this.nanoTime = nanoTime;
    this.meters = meters;
  }

  @Override
  public Future<Verdict> of(String bearer) {
    if (bearer.isEmpty() || bearer.length() > MAX_TOKEN) {
      return Future.succeededFuture(Verdict.UNKNOWN);
    }
    String key = hash(bearer);
    Promise<Verdict> promise = Promise.promise();
    synchronized (this) {
      Kept known = kept.get(key);
      if (known != null && nanoTime.getAsLong() - known.untilNs < 0) {
        return Future.succeededFuture(known.verdict);
      }
      List<Promise<Verdict>> others = waiting.get(key);
      if (others != null) {
        others.add(promise); // the page bounds how many there can be
        return back(promise);
      }
      if (waiting.size() >= MAX_UNDER_WAY) {
        count("busy");
        return Future.succeededFuture(Verdict.UNAVAILABLE);
      }
      waiting.put(key, new ArrayList<>(List.of(promise)));
    }
    vertx
        .executeBlocking(() -> reviews.review(bearer), false)
        .onComplete(done -> settle(key, done.succeeded() ? done.result() : Verdict.UNAVAILABLE));
    return back(promise);
  }

  private static Future<Verdict> back(Promise<Verdict> promise) {
    Context caller = Vertx.currentContext();
    if (caller == null) {
      return promise.future();
    }
    Promise<Verdict> there = Promise.promise();
    promise.future().onSuccess(v -> caller.runOnContext(x -> there.complete(v)));
    return there.future();
  }

  private void settle(String key, Verdict verdict) {
    List<Promise<Verdict>> askers;
    synchronized (this) {
      if (verdict != Verdict.UNAVAILABLE) {
        Duration keep = verdict == Verdict.ALLOWED ? KEEP_ALLOWED : KEEP_REFUSED;
        kept.remove(key); // to the end
        kept.put(key, new Kept(verdict, nanoTime.getAsLong() + keep.toNanos()));
        Iterator<String> oldest = kept.keySet().iterator();
        while (kept.size() > MAX_KEPT && oldest.hasNext()) {
          oldest.next();
          oldest.remove();
        }
      }
      List<Promise<Verdict>> found = waiting.remove(key);
      askers = found == null ? List.of() : found;
    }
    count(
        switch (verdict) {
          case ALLOWED -> "allowed";
          case UNKNOWN, FORBIDDEN -> "denied";
          case UNAVAILABLE -> "failed";
        });
    askers.forEach(asker -> asker.complete(verdict));
  }

  private void count(String result) {
    AgentMeters.ACCESS_REVIEWS.counter(meters, result.toLowerCase(Locale.ROOT)).increment();
  }

  private static String hash(String token) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
