package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the API server sees of us: the first bytes, and how many connections. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LeanHttpTest {
  private static final int CHACHA20_TLS13 = 0x1303;
  private static final int CHACHA20_ECDSA = 0xCCA9;
  private static final int CHACHA20_RSA = 0xCCA8;
  private static final int AES_128_TLS13 = 0x1301;
  private static final int AES_128_ECDSA = 0xC02B;
  private static final int AES_128_RSA = 0xC02F;

  private static final String CONFIG =
      """
      apiVersion: v1
      kind: Config
      current-context: c
      contexts: [{name: c, context: {cluster: c, user: u}}]
      clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
      users: [{name: u, user: {token: t}}]
      """;

  @TempDir private Path folder = Path.of("");

  @Test
  void requestsAndWatchesAskForChaCha20BeforeAesAndForAesToo() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      Path kubeconfig =
          Files.writeString(
              folder.resolve("kubeconfig"),
              CONFIG.formatted("https://127.0.0.1:" + server.getLocalPort()));
      try (KubeClient client = KubeClient.open(kubeconfig, null, Duration.ofSeconds(20))) {
        greets(server, () -> client.get().raw("/version"));
        greets(server, () -> client.get().pods().inNamespace("ns").watch(new Deaf()).close());
      }
    }
  }

  /** Nothing is answered before as many requests wait as there may be connections. */
  @Test
  void aBurstOfRequestsSharesAFewConnections() throws Exception {
    Vertx vertx = Vertx.vertx();
    AtomicInteger connections = new AtomicInteger();
    List<HttpServerRequest> waiting = new ArrayList<>();
    HttpServer server =
        vertx
            .createHttpServer()
            .connectionHandler(c -> connections.incrementAndGet())
            .requestHandler(
                request -> {
                  waiting.add(request);
                  if (connections.get() >= LeanHttp.CONNECTIONS) {
                    waiting.forEach(r -> r.response().end("{}"));
                    waiting.clear();
                  }
                })
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
    String url = "http://127.0.0.1:" + server.actualPort();
    Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), CONFIG.formatted(url));
    try (KubeClient client = KubeClient.open(kubeconfig, null, Duration.ofSeconds(20));
        var calls = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> answers = new ArrayList<>();
      for (int i = 0; i < 5 * LeanHttp.CONNECTIONS; i++) {
        answers.add(calls.submit(() -> client.get().raw("/version")));
      }
      for (Future<String> answer : answers) {
        assertThat(answer.get()).isEqualTo("{}");
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
    assertThat(connections).hasValue(LeanHttp.CONNECTIONS);
  }

  /** What becomes of the call does not matter: nobody answers its greeting. */
  private static void greets(ServerSocket server, Runnable call) throws Exception {
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    call.run();
                  } catch (KubernetesClientException e) {
                    // the greeting is all that was wanted
                  }
                });
    holds(server);
    caller.join();
  }

  private static final class Deaf implements Watcher<Pod> {
    @Override
    public void eventReceived(Action action, Pod pod) {}

    @Override
    public void onClose(WatcherException cause) {}
  }

  private static void holds(ServerSocket server) throws Exception {
    try (Socket socket = server.accept()) {
      List<Integer> suites = suites(new DataInputStream(socket.getInputStream()));
      assertThat(suites).contains(AES_128_TLS13, AES_128_ECDSA, AES_128_RSA);
      assertThat(suites.subList(0, 3))
          .containsExactlyInAnyOrder(CHACHA20_TLS13, CHACHA20_ECDSA, CHACHA20_RSA);
    }
  }

  /** Of a ClientHello (RFC 8446, 4.1.2). */
  private static List<Integer> suites(DataInputStream in) throws Exception {
    in.readNBytes(5 + 4 + 2 + 32); // record, handshake, version, random
    in.readNBytes(in.readUnsignedByte()); // session id
    List<Integer> suites = new ArrayList<>();
    for (int bytes = in.readUnsignedShort(); bytes > 0; bytes -= 2) {
      suites.add(in.readUnsignedShort());
    }
    return suites;
  }
}
