package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which cipher the API server is asked for, read from the first bytes that it gets. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LightTlsTest {
  private static final int CHACHA20_TLS13 = 0x1303;
  private static final int CHACHA20_ECDSA = 0xCCA9;
  private static final int CHACHA20_RSA = 0xCCA8;
  private static final int AES_128_TLS13 = 0x1301;
  private static final int AES_128_ECDSA = 0xC02B;
  private static final int AES_128_RSA = 0xC02F;

  @TempDir private Path folder = Path.of("");

  @Test
  void requestsAndWatchesAskForChaCha20BeforeAesAndForAesToo() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      Path kubeconfig =
          Files.writeString(
              folder.resolve("kubeconfig"),
              """
              apiVersion: v1
              kind: Config
              current-context: c
              contexts: [{name: c, context: {cluster: c, user: u}}]
              clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
              users: [{name: u, user: {token: t}}]
              """
                  .formatted(server.getLocalPort()));
      try (KubeClient client = KubeClient.open(kubeconfig, null, Duration.ofSeconds(20))) {
        greets(server, () -> client.get().raw("/version"));
        greets(server, () -> client.get().pods().inNamespace("ns").watch(new Deaf()).close());
      }
    }
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
