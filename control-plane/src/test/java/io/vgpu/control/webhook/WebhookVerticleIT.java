package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControlMeters.Part;
import io.vgpu.control.metrics.MetricPage;
import io.vgpu.kube.TlsReload;
import io.vgpu.runtime.UsageException;
import io.vgpu.testing.TestCertificates;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The webhook over real TLS: paths, bounds, and a certificate that changes under it. */
class WebhookVerticleIT {
  private static final int INSTANCES = 2;
  @TempDir Path folder;
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private Vertx vertx;
  private Path certificate;
  private Path key;
  private int port;

  @BeforeEach
  void makeCertificate() throws Exception {
    vertx = Vertx.vertx();
    certificate = folder.resolve("tls.crt");
    key = folder.resolve("tls.key");
    TestCertificates.write(TestCertificates.make(folder, "first"), certificate, key);
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
  }

  @AfterEach
  void close() {
    await(vertx.close());
  }

  @Test
  void servesReviewsProbesAndRefusals() throws Exception {
    start(Duration.ofMillis(50));
    assertThat(exchange("GET", "/healthz", "")).startsWith("HTTP/1.1 200 ").endsWith("ok\n");
    assertThat(exchange("GET", "/readyz", "")).startsWith("HTTP/1.1 200 ");
    assertThat(exchange("GET", "/pods/mutate", "")).startsWith("HTTP/1.1 405 ");
    assertThat(exchange("POST", "/pods/mutate", "nonsense")).startsWith("HTTP/1.1 400 ");
    assertThat(exchange("POST", "/else", "{}")).startsWith("HTTP/1.1 404 ");
    String review =
        new String(AdmissionTest.review("admission.k8s.io/v1", "20"), StandardCharsets.UTF_8);
    assertThat(exchange("POST", "/pods/mutate?timeout=10s", review))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"patchType\":\"JSONPatch\"");
    assertThat(exchange("POST", "/pods/validate", review))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"allowed\":false");
    MetricPage.namesAllOf(Part.WEBHOOK, meters.scrape());
    assertThat(meters.scrape())
        .contains("outcome=\"malformed\"", "outcome=\"mended\"", "path=\"/pods/mutate\"");
  }

  @Test
  void refusesABodyOverItsBound() throws Exception {
    start(Duration.ofMillis(50));
    String answer = exchange("POST", "/pods/mutate", " ".repeat(AdmissionReviews.MAX_BYTES + 1));
    assertThat(answer)
        .startsWith("HTTP/1.1 413 ")
        .contains("longer than " + AdmissionReviews.MAX_BYTES);
    assertThat(exchange("GET", "/healthz", "")).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void takesANewCertificateOnEveryEventLoopWithoutARestart() throws Exception {
    start(Duration.ofMillis(50));
    assertThat(subject()).isEqualTo("CN=first");
    TestCertificates.Pem second = TestCertificates.make(folder, "second");

    // only the certificate is there yet: the old pair must go on serving
    Files.writeString(certificate, second.certificate());
    for (int i = 0; i < 4 * INSTANCES; i++) {
      assertThat(subject()).isEqualTo("CN=first");
    }
    Files.writeString(key, second.key());
    awaitSubject("CN=second");
    for (int i = 0; i < 4 * INSTANCES; i++) {
      assertThat(subject()).isEqualTo("CN=second");
    }
    assertThat(exchange("GET", "/healthz", "")).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void doesNotStartOnAKeyOfAnotherCertificate() throws Exception {
    Files.writeString(key, TestCertificates.make(folder, "other").key());
    Assertions.assertThatThrownBy(() -> start(Duration.ZERO))
        .rootCause()
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("tls.key: is not the key of certificate");
  }

  private void start(Duration certificateInterval) {
    Admission admission =
        new Admission(
            new PodMutator(Names.DEFAULT, PodDefaults.NONE),
            new PodValidator(Names.DEFAULT, Set.of()));
    await(
        vertx.deployVerticle(
            () ->
                new WebhookVerticle(
                    "127.0.0.1",
                    port,
                    new TlsReload(vertx, certificate, key),
                    certificateInterval,
                    admission,
                    meters),
            new DeploymentOptions().setInstances(INSTANCES)));
  }

  private void awaitSubject(String wanted) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    int inARow = 0;
    while (inARow < 4 * INSTANCES) {
      if (System.nanoTime() > end) {
        throw new AssertionError("still served: " + subject());
      }
      inARow = subject().equals(wanted) ? inARow + 1 : 0;
    }
  }

  private String subject() throws Exception {
    try (SSLSocket socket = connect()) {
      SSLSession session = socket.getSession();
      return ((X509Certificate) session.getPeerCertificates()[0])
          .getSubjectX500Principal()
          .getName();
    }
  }

  private String exchange(String method, String path, String body) throws Exception {
    try (SSLSocket socket = connect()) {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      String head =
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
              + bytes.length
              + "\r\n\r\n";
      Thread writer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      socket.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
                      socket.getOutputStream().write(bytes);
                    } catch (IOException e) {
                      // the server may shut the connection before it has read all: what it said
                      // is what the test looks at
                      Thread.currentThread().interrupt();
                    }
                  });
      String answer = new String(read(socket), StandardCharsets.UTF_8);
      writer.join(Duration.ofSeconds(10));
      return answer;
    }
  }

  private static byte[] read(SSLSocket socket) throws IOException {
    java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
    byte[] part = new byte[8192];
    try {
      for (int n = socket.getInputStream().read(part);
          n >= 0;
          n = socket.getInputStream().read(part)) {
        all.write(part, 0, n);
      }
    } catch (IOException e) {
      if (all.size() == 0) {
        throw e;
      }
    }
    return all.toByteArray();
  }

  private SSLSocket connect() throws GeneralSecurityException, IOException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
    socket.setSoTimeout(20_000);
    socket.startHandshake();
    return socket;
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  /** The test looks at the certificate itself. */
  private static final class TrustAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkClientTrusted(
        X509Certificate[] chain, String type, javax.net.ssl.SSLEngine engine) {}

    @Override
    public void checkServerTrusted(
        X509Certificate[] chain, String type, javax.net.ssl.SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
