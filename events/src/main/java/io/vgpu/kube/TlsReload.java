package io.vgpu.kube;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vgpu.runtime.OpsVerticle;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's certificate that follows its files (control-plane.md 1.6): who renews them need not
 * restart us. Files are read off the event loop; a pair that does not belong together, as between
 * the writing of one file and of the other, is not taken, and the old one goes on serving. One per
 * server.
 */
public final class TlsReload {
  private static final Logger log = LoggerFactory.getLogger(TlsReload.class);
  private final Vertx vertx;
  private final Path certificateFile;
  private final Path keyFile;
  private final UnaryOperator<ServerSSLOptions> rest;
  private volatile @Nullable Pem serving;
  private volatile String lastFault = "";
  private final AtomicBoolean looking = new AtomicBoolean();

  private record Pem(Buffer certificate, Buffer key) {}

  private record Loaded(Pem pem, KeyCertOptions options) {}

  public TlsReload(Vertx vertx, Path certificateFile, Path keyFile) {
    this(vertx, certificateFile, keyFile, UnaryOperator.identity());
  }

  /**
   * {@code rest} sets what else the server's TLS is made of, e.g. the callers' CA: a renewal
   * replaces all of it.
   */
  public TlsReload(
      Vertx vertx, Path certificateFile, Path keyFile, UnaryOperator<ServerSSLOptions> rest) {
    this.rest = rest;
    this.vertx = vertx;
    this.certificateFile = certificateFile;
    this.keyFile = keyFile;
  }

  /** The same for the port of health and metrics. */
  public OpsVerticle.Certificate every(Duration refresh) {
    return new OpsVerticle.Certificate() {
      @Override
      public Future<KeyCertOptions> read() {
        return TlsReload.this.read();
      }

      @Override
      public void follow(HttpServer server) {
        TlsReload.this.follow(server, refresh);
      }
    };
  }

  /** The pair to start with; fails with a {@link UsageException} that names the file. */
  public Future<KeyCertOptions> read() {
    return vertx
        .executeBlocking(() -> load(files()), false)
        .map(
            loaded -> {
              serving = loaded.pem();
              return loaded.options();
            });
  }

  /** Looks at the files again and again while the server lives; zero never. */
  public void follow(HttpServer server, Duration every) {
    if (!every.isZero() && !every.isNegative()) {
      vertx.setPeriodic(
          every.toMillis(),
          timer -> {
            // a look that takes longer than the interval is not overtaken by the next
            if (looking.compareAndSet(false, true)) {
              refresh(server).onComplete(r -> looking.set(false));
            }
          });
    }
  }

  /** One look: true when the server took a new pair. Never fails; a fault is logged once. */
  public Future<Boolean> refresh(HttpServer server) {
    return vertx
        .executeBlocking(this::changed, false)
        .compose(loaded -> loaded == null ? Future.succeededFuture(false) : take(server, loaded))
        .recover(
            fault -> {
              String text = String.valueOf(fault.getMessage());
              if (!text.equals(lastFault)) {
                log.warn(
                    "certificate not renewed, the old one serves on [file: {}, cause: {}]",
                    certificateFile,
                    text);
                lastFault = text;
              }
              return Future.succeededFuture(false);
            });
  }

  private Future<Boolean> take(HttpServer server, Loaded loaded) {
    return server
        .updateSSLOptions(rest.apply(new ServerSSLOptions().setKeyCertOptions(loaded.options())))
        .map(
            done -> {
              serving = loaded.pem();
              lastFault = "";
              log.info("certificate renewed [file: {}]", certificateFile);
              return true;
            });
  }

  private @Nullable Loaded changed() throws Exception {
    Pem found = files();
    return found.equals(serving) ? null : load(found);
  }

  private Pem files() {
    return new Pem(read("certificate", certificateFile), read("key", keyFile));
  }

  private static Buffer read(String what, Path file) {
    try {
      return Buffer.buffer(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UsageException("TLS " + what + " " + file + ": cannot be read: " + e.getMessage());
    }
  }

  private Loaded load(Pem pem) throws Exception {
    KeyManager[] managers =
        new PemKeyCertOptions()
            .setCertValue(pem.certificate())
            .setKeyValue(pem.key())
            .getKeyManagerFactory(vertx)
            .getKeyManagers();
    for (KeyManager manager : managers) {
      if (manager instanceof X509KeyManager keys) {
        checkPair(keys);
        return new Loaded(pem, KeyCertOptions.wrap(keys));
      }
    }
    throw new UsageException("TLS key " + keyFile + ": holds no key");
  }

  private void checkPair(X509KeyManager keys) throws GeneralSecurityException {
    for (String type : new String[] {"EC", "RSA", "Ed25519"}) {
      String[] aliases = keys.getServerAliases(type, null);
      if (aliases != null && aliases.length > 0) {
        PublicKey certified = keys.getCertificateChain(aliases[0])[0].getPublicKey();
        if (!belong(keys.getPrivateKey(aliases[0]), certified)) {
          throw new UsageException(
              "TLS key " + keyFile + ": is not the key of certificate " + certificateFile);
        }
        return;
      }
    }
    throw new UsageException(
        "TLS certificate " + certificateFile + ": must be of type EC, RSA or Ed25519");
  }

  private static boolean belong(PrivateKey key, PublicKey certified)
      throws GeneralSecurityException {
    if (!key.getAlgorithm().equals(certified.getAlgorithm())) {
      return false;
    }
    String algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          default -> key.getAlgorithm();
        };
    byte[] text = {1, 2, 3};
    Signature sign = Signature.getInstance(algorithm);
    sign.initSign(key);
    sign.update(text);
    Signature verify = Signature.getInstance(algorithm);
    verify.initVerify(certified);
    verify.update(text);
    return verify.verify(sign.sign());
  }
}
