package io.vgpu.kube;

import io.fabric8.kubernetes.client.vertx5.Vertx5HttpClientFactory;
import io.netty.handler.ssl.SslProvider;
import io.vertx.core.Vertx;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.spi.tls.DefaultSslContextFactory;
import io.vertx.core.spi.tls.SslContextFactory;
import io.vertx.ext.web.client.WebClientOptions;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * HTTP clients as our processes can afford them. Any thread.
 *
 * <p>Few connections: without a bound each request of a burst opens one, and its greeting costs
 * more than ten requests, here and at the API server. A request waits for its turn instead; web
 * sockets, and with them watches, are not counted.
 *
 * <p>ChaCha20 rather than AES: the processor's instructions for AES reach Java through the
 * optimising compiler only, which our processes do without, and then AES-GCM costs four times as
 * much. An API server without ChaCha20 takes what else it finds in the list.
 */
final class LeanHttp extends Vertx5HttpClientFactory {
  /** The most requests a second that we make, at 80 ms each. */
  static final int CONNECTIONS = 32;

  LeanHttp(Vertx vertx) {
    super(vertx);
  }

  @Override
  protected void additionalConfig(
      WebClientOptions http, WebSocketClientOptions webSocket, PoolOptions pool) {
    pool.setHttp1MaxSize(CONNECTIONS);
    http.setSslEngineOptions(new Engine());
    webSocket.setSslEngineOptions(new Engine());
  }

  /** What the JVM offers by default, in another order. */
  private static Set<String> suites() {
    try {
      return Stream.of(SSLContext.getDefault().getDefaultSSLParameters().getCipherSuites())
          .sorted(Comparator.comparing(suite -> !suite.contains("CHACHA20")))
          .collect(Collectors.toCollection(LinkedHashSet::new));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has a default TLS context", e);
    }
  }

  /** Sets the order where the context is made: on its way there a list of suites loses it. */
  private static final class Engine extends JdkSSLEngineOptions {
    @Override
    public Engine copy() {
      return new Engine();
    }

    @Override
    public SslContextFactory sslContextFactory() {
      return new DefaultSslContextFactory(SslProvider.JDK, false) {
        @Override
        public SslContextFactory enabledCipherSuites(Set<String> unordered) {
          return super.enabledCipherSuites(suites());
        }
      };
    }
  }
}
