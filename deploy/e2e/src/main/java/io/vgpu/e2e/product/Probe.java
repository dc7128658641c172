package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Asks a part of ours for its health and metrics, over the cluster's network. */
final class Probe {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private final Cluster cluster;

  Probe(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Whether {@code /readyz} answers 200; a part that does not listen yet is not ready. */
  boolean ready(OurPart part, int port) {
    try {
      return get(part, port, "/readyz").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  String metrics(OurPart part, int port) {
    try {
      return get(part, port, "/metrics").body();
    } catch (IOException e) {
      throw new ClusterException("no metrics from " + part.process() + ": " + e.getMessage(), e);
    }
  }

  private HttpResponse<String> get(OurPart part, int port, String path) throws IOException {
    String scheme = part == OurPart.WEBHOOK ? "https" : "http";
    URI uri = URI.create(scheme + "://" + cluster.config().nodeIp() + ":" + port + path);
    try (HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1) // no upgrade: scrapers ask for none
            .connectTimeout(LIMIT)
            .sslContext(trustingTheCluster())
            .build()) {
      return http.send(
          HttpRequest.newBuilder(uri).timeout(LIMIT).build(), HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while asking " + uri, e);
    }
  }

  private SSLContext trustingTheCluster() throws IOException {
    try (var in = Files.newInputStream(cluster.paths().caCertificate())) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry(
          "cluster", CertificateFactory.getInstance("X.509").generateCertificate(in));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new ClusterException("the cluster's certificate authority cannot be read", e);
    }
  }
}
