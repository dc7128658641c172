package io.vgpu.agent.metrics;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vgpu.agent.metrics.MetricsPage.Verdict;
import io.vgpu.kube.TlsReload;
import io.vgpu.runtime.OpsVerticle;
import io.vgpu.testing.TestCertificates;
import io.vgpu.testing.TestCertificates.Pem;
import java.io.ByteArrayInputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsPageTest {
  private static final long S = 1_000_000_000;

  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final AtomicLong now = new AtomicLong(1_000 * S);

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  private int serve(Optional<MetricsPage.Access> access, Optional<OpsVerticle.Certificate> tls)
      throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    await(
        vertx.deployVerticle(
            new OpsVerticle(
                "127.0.0.1",
                port,
                new MetricsPage(meters, access, Duration.ofSeconds(1), now::get),
                List::of,
                path -> Future.succeededFuture(Optional.empty()),
                tls)));
    return port;
  }

  private record Got(int status, @Nullable String encoding, boolean repeated, byte[] body) {
    String text() throws Exception {
      if (encoding == null) {
        return new String(body, StandardCharsets.UTF_8);
      }
      return new String(
          new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes(),
          StandardCharsets.UTF_8);
    }
  }

  private Got get(HttpClientAgent client, int port, String path, String... headers)
      throws Exception {
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setHost("localhost")
            .setPort(port)
            .setURI(path);
    for (int i = 0; i < headers.length; i += 2) {
      request.putHeader(headers[i], headers[i + 1]);
    }
    return await(
        client
            .request(request)
            .compose(r -> r.send())
            .compose(response -> response.body().map(body -> got(response, body))));
  }

  private static Got got(HttpClientResponse response, Buffer body) {
    return new Got(
        response.statusCode(),
        response.getHeader("Content-Encoding"),
        "true".equals(response.getHeader("X-Rate-Limited")),
        body.getBytes());
  }

  private Got get(int port, String... headers) throws Exception {
    return get(vertx.createHttpClient(), port, "/metrics", headers);
  }

  /**
   * 13-58: what is said again has the encoding of its own request, whatever the first one's was.
   */
  @Test
  void eachAnswerIsEncodedAsItsOwnRequestAccepts() throws Exception {
    AgentMeters.NODE_PATCHES.counter(meters, "ok").increment();
    int port = serve(Optional.empty(), Optional.empty());
    Got zipped = get(port, "Accept-Encoding", "gzip");
    Got plain = get(port);
    Got again = get(port, "Accept-Encoding", "gzip");
    assertThat(zipped.encoding()).isEqualTo("gzip");
    assertThat(zipped.text()).contains("vgpu_node_patches_total{result=\"ok\"} 1.0");
    assertThat(plain.encoding()).isNull();
    assertThat(plain.text()).contains("vgpu_node_patches_total{result=\"ok\"} 1.0");
    assertThat(again.text()).isEqualTo(plain.text());
  }

  @Test
  void withinTheIntervalTheSameIsSaidAgain() throws Exception {
    int port = serve(Optional.empty(), Optional.empty());
    Got first = get(port);
    AgentMeters.NODE_PATCHES.counter(meters, "ok").increment();
    now.addAndGet(S - 1);
    Got second = get(port);
    assertThat(first.repeated()).isFalse();
    assertThat(second.repeated()).isTrue();
    assertThat(second.text()).isEqualTo(first.text());
    now.addAndGet(1);
    Got third = get(port);
    assertThat(third.repeated()).isFalse();
    assertThat(third.text())
        .contains("vgpu_node_patches_total{result=\"ok\"} 1.0")
        .contains("promhttp_metric_handler_requests_total{code=\"200\"} 2.0")
        .contains("promhttp_metric_handler_requests_in_flight 1.0");
  }

  @Test
  void onlyWhoMayCanScrapeAndHealthIsForAll() throws Exception {
    List<String> asked = new ArrayList<>();
    int port =
        serve(
            Optional.of(
                bearer -> {
                  asked.add(bearer);
                  return Future.succeededFuture(
                      bearer.equals("may")
                          ? Verdict.ALLOWED
                          : bearer.isEmpty() ? Verdict.UNKNOWN : Verdict.FORBIDDEN);
                }),
            Optional.empty());
    assertThat(get(port).status()).isEqualTo(401);
    assertThat(get(port, "Authorization", "Bearer may-not").status()).isEqualTo(403);
    assertThat(get(port, "Authorization", "bearer may").status()).isEqualTo(200);
    assertThat(asked).containsExactly("", "may-not", "may");
    assertThat(get(vertx.createHttpClient(), port, "/healthz").status()).isEqualTo(200);
  }

  @Test
  void scrapesThatWaitAreBounded() throws Exception {
    Promise<Verdict> later = Promise.promise();
    int port = serve(Optional.of(bearer -> later.future()), Optional.empty());
    HttpClientAgent client =
        vertx.createHttpClient(
            new HttpClientOptions(),
            new io.vertx.core.http.PoolOptions().setHttp1MaxSize(2 * MetricsPage.MAX_IN_FLIGHT));
    List<Future<Integer>> answers = new ArrayList<>();
    for (int i = 0; i < MetricsPage.MAX_IN_FLIGHT + 1; i++) {
      answers.add(
          client
              .request(HttpMethod.GET, port, "localhost", "/metrics")
              .compose(r -> r.send())
              .map(HttpClientResponse::statusCode));
    }
    assertThat(await(Future.any(answers)).<Integer>resultAt(answers.indexOf(first(answers))))
        .as("one too many")
        .isEqualTo(503);
    later.complete(Verdict.ALLOWED);
    assertThat(await(Future.all(answers)).<Integer>list())
        .containsOnly(200, 503)
        .filteredOn(status -> status == 503)
        .hasSize(1);
  }

  private static Future<Integer> first(List<Future<Integer>> answers) {
    return answers.stream().filter(Future::succeeded).findFirst().orElseThrow();
  }

  @Test
  void aRenewedCertificateIsServedWithoutARestart(@TempDir Path dir) throws Exception {
    Pem old = TestCertificates.make(dir, "old");
    Pem renewed = TestCertificates.make(dir, "renewed");
    Path certificate = dir.resolve("tls.crt");
    Path key = dir.resolve("tls.key");
    TestCertificates.write(old, certificate, key);
    TlsReload reload = new TlsReload(vertx, certificate, key);
    int port = serve(Optional.empty(), Optional.of(reload.every(Duration.ofMillis(20))));
    assertThat(get(trusting(old), port, "/metrics").status()).isEqualTo(200);

    TestCertificates.write(renewed, certificate, key);

    long end = System.nanoTime() + 20 * S;
    boolean served = false;
    while (!served && System.nanoTime() - end < 0) {
      try {
        served = get(trusting(renewed), port, "/metrics").status() == 200;
      } catch (java.util.concurrent.ExecutionException e) {
        Thread.onSpinWait(); // the old one still
      }
    }
    assertThat(served).isTrue();
  }

  private HttpClientAgent trusting(Pem pem) {
    return vertx.createHttpClient(
        new HttpClientOptions()
            .setSsl(true)
            .setKeepAlive(false)
            .setTrustOptions(new PemTrustOptions().addCertValue(Buffer.buffer(pem.certificate()))));
  }
}
