package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** How one sees from outside that a part serves. */
final class Readiness {
  private static final Duration LIMIT = Duration.ofSeconds(90);

  private final ClusterConfig config;
  private final KubernetesClient client;

  Readiness(ClusterConfig config, KubernetesClient client) {
    this.config = config;
    this.client = client;
  }

  void await(Part part, ManagedProcess process) {
    process.awaitReady("to serve", LIMIT, () -> serves(part));
  }

  private boolean serves(Part part) {
    return switch (part) {
      // listens on loopback of the namespace only: the apiserver's readiness covers it
      case ETCD -> true;
      case CONTAINERD -> accepts(config.paths().containerdSocket());
      case APISERVER -> answersOk("/readyz");
      case CONTROLLER_MANAGER -> accepts(10257);
      case SCHEDULER -> accepts(10259);
      case KUBELET ->
          accepts(10250)
              && accepts(config.paths().podResourcesSocket())
              && accepts(config.paths().devicePluginsDir().resolve("kubelet.sock"))
              && answersOk("/api/v1/nodes/" + config.nodeName() + "/proxy/healthz");
    };
  }

  private boolean answersOk(String path) {
    try {
      return "ok".equals(client.raw(path));
    } catch (KubernetesClientException e) {
      return false; // not yet; the caller asks again and has a limit
    }
  }

  private boolean accepts(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(config.nodeIp(), port), 500);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean accepts(Path socket) {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      return channel.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
