package io.vgpu.agent.testing;

import io.vertx.core.Vertx;
import io.vertx.core.net.PemKeyCertOptions;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.claim.Names;
import io.vgpu.testing.TestCertificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an agent needs around it on a machine without Kubernetes: a kubelet, an API server with one
 * node, the key of claims; on TLS as in a cluster, or plain.
 */
public final class SmallNode implements AutoCloseable {
  private static final long BOUND = 20;

  private final String name;
  private final Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final NodeApi api;
  private final FakeKubelet kubelet;
  private final @Nullable Path authority;

  /** {@code dir}: absolute, short enough for sockets. */
  public SmallNode(Path dir, String name, boolean tls) throws Exception {
    this.dir = dir;
    this.name = name;
    PemKeyCertOptions pair = null;
    if (tls) {
      authority = dir.resolve("tls.crt");
      TestCertificates.write(TestCertificates.make(dir, "api"), authority, dir.resolve("tls.key"));
      pair =
          new PemKeyCertOptions()
              .setCertPath(authority.toString())
              .setKeyPath(dir.resolve("tls.key").toString());
    } else {
      authority = null;
    }
    api = new NodeApi(vertx, name, pair);
    kubelet = new FakeKubelet(dir, Names.DEFAULT.vgpuNumber(), 1);
    kubelet.start();
    Files.writeString(claimKey(), BoundPod.KEY + "\n");
    Files.writeString(
        kubeconfig(),
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"%s}}]
        users: [{name: u, user: {token: agents-token}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
        """
            .formatted(
                api.url(),
                authority == null ? "" : ", certificate-authority: \"" + authority + "\""));
  }

  public FakeKubelet kubelet() {
    return kubelet;
  }

  public Path kubeconfig() {
    return dir.resolve("kubeconfig");
  }

  public Path claimKey() {
    return dir.resolve("claim-key");
  }

  /** Where an agent of this node's finds all this. */
  public List<String> agentFlags() {
    String host = api.url().substring(api.url().indexOf("://") + 3);
    List<String> always =
        List.of(
            "--node-name=" + name,
            "--kubeconfig=" + kubeconfig(),
            "--device-plugin-path=" + kubelet.pluginDir(),
            "--pod-resources-socket=" + kubelet.podResourcesSocket(),
            "--claim-key-file=" + claimKey());
    return authority == null
        ? always
        : Stream.concat(
                always.stream(),
                Stream.of("--kubelet-endpoint=" + host, "--kubelet-ca-file=" + authority))
            .toList();
  }

  /** Binds the pod and admits it. */
  public FakeKubelet.Result admit(BoundPod pod) {
    api.bind(pod.json(name));
    return kubelet.admit(pod.ref(), pod.demand());
  }

  /** The pod's container runs under this id of the runtime's. */
  public void runs(BoundPod pod, String containerId) {
    api.bind(pod.running(name, containerId));
  }

  /** The pod is gone. */
  public void remove(BoundPod pod) {
    kubelet.remove(pod.ref().uid());
    api.remove(pod.ref().name());
  }

  /** The environment of programs on this profile's cards; fake libraries of the build. */
  public static Map<String, String> cards(Path profile, Path state) {
    return Map.of(
        "FAKE_GPUS", profile.toString(),
        "FAKE_GPUS_STATE", state.toString(),
        "FAKE_GPUS_CONTEXT_MIB", "300",
        "LD_LIBRARY_PATH", Built.shim("fake").toString());
  }

  @Override
  public void close() {
    kubelet.close();
    api.close();
    var unused =
        vertx
            .close()
            .toCompletionStage()
            .toCompletableFuture()
            .orTimeout(BOUND, TimeUnit.SECONDS)
            .join();
  }
}
