package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.PemKeyCertOptions;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.testing.TestCertificates;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever reaches the verbs can bind pods, so callers prove who they are (control-plane.md 1.1).
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ExtenderTlsIT {
  @TempDir Path folder;

  @Test
  void callersWithoutACertificateAreRefusedAlsoAfterARenewal() throws Exception {
    Path certificate = folder.resolve("tls.crt");
    Path key = folder.resolve("tls.key");
    Path callers = folder.resolve("callers.crt");
    Path callerKey = folder.resolve("callers.key");
    TestCertificates.write(TestCertificates.make(folder, "first"), certificate, key);
    TestCertificates.write(TestCertificates.make(folder, "caller"), callers, callerKey);
    TestCertificates.Pem second = TestCertificates.make(folder, "second");
    PemKeyCertOptions known =
        new PemKeyCertOptions().setCertPath(callers.toString()).setKeyPath(callerKey.toString());
    Vertx vertx = Vertx.vertx();
    try (FakeApiServer api = new FakeApiServer();
        RunningExtender extender =
            new RunningExtender(
                api,
                folder,
                "",
                new ExtenderConfig.Tls(certificate, key, callers, Duration.ofMillis(50)))) {
      assertThat(server(vertx, extender.port(), known)).isEqualTo("CN=first");
      assertThat(server(vertx, extender.port(), null)).isEqualTo("refused");

      TestCertificates.write(second, certificate, key);
      while (!server(vertx, extender.port(), known).equals("CN=second")) {
        Thread.onSpinWait();
      }
      assertThat(server(vertx, extender.port(), null)).isEqualTo("refused");
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  /** Whose certificate the server showed, once it has answered a request. */
  private static String server(Vertx vertx, int port, @Nullable PemKeyCertOptions caller) {
    HttpClientOptions options =
        new HttpClientOptions().setSsl(true).setTrustAll(true).setVerifyHost(false);
    if (caller != null) {
      options.setKeyCertOptions(caller);
    }
    HttpClient client = vertx.createHttpClient(options);
    try {
      return client
          .request(HttpMethod.GET, port, "127.0.0.1", "/healthz")
          .compose(request -> request.send().map(answer -> shown(request, answer.statusCode())))
          .toCompletionStage()
          .toCompletableFuture()
          .join();
    } catch (CompletionException e) {
      return "refused";
    } finally {
      client.close();
    }
  }

  private static String shown(HttpClientRequest request, int status) {
    try {
      X509Certificate certificate =
          (X509Certificate) request.connection().sslSession().getPeerCertificates()[0];
      return status == 200 ? certificate.getSubjectX500Principal().getName() : "status " + status;
    } catch (SSLPeerUnverifiedException e) {
      return "nothing";
    }
  }
}
