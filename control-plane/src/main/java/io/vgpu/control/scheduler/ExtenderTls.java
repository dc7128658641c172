package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vgpu.kube.TlsReload;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP server's options: plain on loopback, or TLS that follows its files and, where a CA of
 * callers is given, takes nobody else (control-plane.md 1.1). One per server.
 */
final class ExtenderTls {
  /** Longer than kube-scheduler keeps an idle connection, so that it never meets a closing one. */
  private static final int IDLE_SECONDS = 600;

  private final ExtenderConfig.@Nullable Tls tls;
  private final @Nullable TlsReload reload;

  ExtenderTls(Vertx vertx, ExtenderConfig.@Nullable Tls tls) {
    this.tls = tls;
    this.reload =
        tls == null
            ? null
            : new TlsReload(
                vertx, tls.certificate(), tls.key(), ssl -> withCallers(ssl, tls.clientCa()));
  }

  private static ServerSSLOptions withCallers(ServerSSLOptions ssl, @Nullable Path clientCa) {
    if (clientCa != null) {
      ssl.setClientAuth(ClientAuth.REQUIRED)
          .setTrustOptions(new PemTrustOptions().addCertPath(clientCa.toString()));
    }
    return ssl;
  }

  /** The options to listen with; fails when a file cannot be used. */
  Future<HttpServerOptions> options() {
    HttpServerOptions options =
        new HttpServerOptions().setIdleTimeout(IDLE_SECONDS).setMaxHeaderSize(16 * 1024);
    ExtenderConfig.Tls t = tls;
    if (t == null || reload == null) {
      return Future.succeededFuture(options);
    }
    return reload
        .read()
        .map(
            key -> {
              options.setSsl(true).setKeyCertOptions(key);
              Path ca = t.clientCa();
              if (ca != null) {
                options
                    .setClientAuth(ClientAuth.REQUIRED)
                    .setTrustOptions(new PemTrustOptions().addCertPath(ca.toString()));
              }
              return options;
            });
  }

  /** Renews the running server's certificate when its files change. */
  void follow(HttpServer server) {
    if (tls != null && reload != null) {
      reload.follow(server, tls.refresh());
    }
  }
}
