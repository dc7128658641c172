package io.vgpu.kube;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The fabric8 client on a Vert.x of its own (D14): it parses JSON on its event loop, which would
 * stall ours. Its calls block, so they belong on virtual threads or lanes; its callbacks come on
 * its own threads.
 */
public final class KubeClient implements AutoCloseable {
  private final Vertx vertx;
  private final KubernetesClient client;

  private KubeClient(Vertx vertx, KubernetesClient client) {
    this.vertx = vertx;
    this.client = client;
  }

  /**
   * Connects with a kubeconfig file, or from inside a pod when there is none. {@code
   * requestTimeout} bounds each request (zero keeps the client's default); failed requests are not
   * retried here, so that each caller decides.
   */
  public static KubeClient open(
      @Nullable Path kubeconfig, @Nullable String master, Duration requestTimeout) {
    Config config = base(kubeconfig);
    // SlimWatch resumes broken watches itself: fabric8's own reconnecting would hide how long one
    // was deaf
    ConfigBuilder builder =
        new ConfigBuilder(config).withRequestRetryBackoffLimit(0).withWatchReconnectLimit(0);
    if (master != null && !master.isEmpty()) {
      builder.withMasterUrl(master);
    }
    if (!requestTimeout.isZero()) {
      builder.withRequestTimeout((int) requestTimeout.toMillis());
    }
    Vertx vertx =
        Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setPreferNativeTransport(true));
    KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(builder.build())
            .withHttpClientFactory(new LeanHttp(vertx))
            .build();
    return new KubeClient(vertx, client);
  }

  private static Config base(@Nullable Path kubeconfig) {
    try {
      if (kubeconfig != null) {
        Files.readString(kubeconfig);
      }
      Config config =
          kubeconfig == null
              ? new ConfigBuilder().withAutoConfigure(true).build()
              : Config.fromKubeconfig(kubeconfig.toFile());
      return new ConfigBuilder(config).withClientKeyAlgo(ClientKeys.algorithm(config)).build();
    } catch (IOException e) {
      throw new UsageException(
          (kubeconfig == null ? "kubeconfig" : "--kubeconfig " + kubeconfig)
              + ": cannot be read: "
              + e.getMessage());
    }
  }

  /** The client; shared, thread safe. */
  public KubernetesClient get() {
    return client;
  }

  /**
   * The same credentials towards another server of the cluster, such as a kubelet's port; its
   * certificate is checked against {@code caFile}, or the cluster's own authority when null. The
   * caller closes it.
   */
  public KubernetesClient towards(String url, @Nullable Path caFile, Duration requestTimeout) {
    ConfigBuilder builder =
        new ConfigBuilder(client.getConfiguration())
            .withMasterUrl(url)
            .withRequestTimeout((int) requestTimeout.toMillis())
            .withConnectionTimeout((int) requestTimeout.toMillis())
            .withRequestRetryBackoffLimit(0);
    if (caFile != null) {
      builder.withCaCertData(null).withCaCertFile(caFile.toString());
    }
    return new KubernetesClientBuilder()
        .withConfig(builder.build())
        .withHttpClientFactory(new LeanHttp(vertx))
        .build();
  }

  /** Ends watches and connections within 5 s. */
  @Override
  public void close() {
    client.close();
    vertx
        .close()
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(5, TimeUnit.SECONDS)
        .exceptionally(e -> null)
        .join();
  }
}
