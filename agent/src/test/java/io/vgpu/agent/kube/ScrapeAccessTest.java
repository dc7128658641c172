package io.vgpu.agent.kube;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.kube.ScrapeAccess.ReviewFailed;
import io.vgpu.agent.metrics.MetricsPage.Verdict;
import io.vgpu.kube.KubeClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScrapeAccessTest {
  private static final String TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews";
  private static final String ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  private final Vertx vertx = Vertx.vertx();
  private final AtomicLong now = new AtomicLong(1);
  private final AtomicInteger reviews = new AtomicInteger();
  private final Map<String, Verdict> known = new ConcurrentHashMap<>();
  private final Semaphore may = new Semaphore(1000);
  private final ScrapeAccess access =
      new ScrapeAccess(vertx, this::review, now::get, new SimpleMeterRegistry());

  private Verdict review(String token) throws ReviewFailed {
    reviews.incrementAndGet();
    may.acquireUninterruptibly();
    Verdict verdict = known.get(token);
    if (verdict == null) {
      throw new ReviewFailed("nobody answers");
    }
    return verdict;
  }

  @AfterEach
  void stop() throws Exception {
    may.release(1000);
    await(vertx.close());
  }

  @Test
  void anAnswerIsKeptForAWhile() throws Exception {
    known.put("good", Verdict.ALLOWED);
    known.put("bad", Verdict.FORBIDDEN);
    for (int i = 0; i < 5; i++) {
      assertThat(await(access.of("good"))).isEqualTo(Verdict.ALLOWED);
      assertThat(await(access.of("bad"))).isEqualTo(Verdict.FORBIDDEN);
    }
    assertThat(reviews).hasValue(2);

    known.put("good", Verdict.UNKNOWN); // it was revoked
    known.put("bad", Verdict.ALLOWED);
    now.addAndGet(ScrapeAccess.KEEP_REFUSED.toNanos());
    assertThat(await(access.of("bad"))).isEqualTo(Verdict.ALLOWED);
    assertThat(await(access.of("good"))).isEqualTo(Verdict.ALLOWED);
    now.addAndGet(ScrapeAccess.KEEP_ALLOWED.toNanos());
    assertThat(await(access.of("good"))).isEqualTo(Verdict.UNKNOWN);
  }

  @Test
  void whoShowsNoTokenIsNotAskedAbout() throws Exception {
    assertThat(await(access.of(""))).isEqualTo(Verdict.UNKNOWN);
    assertThat(await(access.of("x".repeat(20_000)))).isEqualTo(Verdict.UNKNOWN);
    assertThat(reviews).hasValue(0);
  }

  @Test
  void withoutAnAnswerNobodyMayAndNothingIsKept() throws Exception {
    assertThat(await(access.of("good"))).isEqualTo(Verdict.UNAVAILABLE);
    known.put("good", Verdict.ALLOWED);
    assertThat(await(access.of("good"))).isEqualTo(Verdict.ALLOWED);
  }

  @Test
  void askersOfOneTokenWaitTogetherAndTokensAreBounded() throws Exception {
    may.drainPermits();
    List<Future<Verdict>> same = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      known.put("t0", Verdict.ALLOWED);
      same.add(access.of("t0"));
    }
    for (int i = 1; i < ScrapeAccess.MAX_UNDER_WAY; i++) {
      known.put("t" + i, Verdict.ALLOWED);
      same.add(access.of("t" + i));
    }
    assertThat(await(access.of("one-more"))).isEqualTo(Verdict.UNAVAILABLE);
    may.release(1000);
    assertThat(await(Future.all(same)).<Verdict>list()).containsOnly(Verdict.ALLOWED);
    assertThat(reviews).hasValue(ScrapeAccess.MAX_UNDER_WAY);
  }

  @Test
  void manyTokensDoNotFillTheMemory() throws Exception {
    for (int i = 0; i < ScrapeAccess.MAX_KEPT + 10; i++) {
      known.put("t" + i, Verdict.FORBIDDEN);
      await(access.of("t" + i));
    }
    int before = reviews.get();
    await(access.of("t" + (ScrapeAccess.MAX_KEPT + 9)));
    assertThat(reviews).as("the newest is known").hasValue(before);
    await(access.of("t0"));
    assertThat(reviews).as("the oldest is not").hasValue(before + 1);
  }

  @Test
  void theApiServerIsAskedWhoItIsAndWhatHeMay(@TempDir Path dir) throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      ApiReviews asked = new ApiReviews(client.get());
      api.answers.put(TOKENS, "{\"status\":{\"authenticated\":false}}");
      assertThat(asked.review("tok")).isEqualTo(Verdict.UNKNOWN);
      assertThat(api.next("tokenreviews").body()).contains("\"token\":\"tok\"");

      api.answers.put(
          TOKENS,
          "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"prometheus\",\"uid\":\"7\",\"groups\":[\"g\"]}}}");
      api.answers.put(ACCESS, "{\"status\":{\"allowed\":false}}");
      assertThat(asked.review("tok")).isEqualTo(Verdict.FORBIDDEN);
      assertThat(api.next("subjectaccessreviews").body())
          .contains("\"user\":\"prometheus\"", "\"groups\":[\"g\"]", "\"path\":\"/metrics\"")
          .doesNotContain("tok\"");

      api.answers.put(ACCESS, "{\"status\":{\"allowed\":true}}");
      assertThat(asked.review("tok")).isEqualTo(Verdict.ALLOWED);

      api.failNext(1);
      assertThatThrownBy(() -> asked.review("tok")).isInstanceOf(ReviewFailed.class);
    }
  }
}
