package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;

/**
 * Makes clients that speak as the cluster's administrator, from this machine, without a word of its
 * own configuration.
 */
final class AdminClient {
  private AdminClient() {}

  static KubernetesClient create(String apiServerUrl, ClusterPaths paths) {
    Path pki = paths.pki();
    Config config =
        new ConfigBuilder(Config.empty())
            .withAutoConfigure(false)
            .withMasterUrl(apiServerUrl)
            .withCaCertFile(paths.caCertificate().toString())
            .withClientCertFile(pki.resolve("admin.crt").toString())
            .withClientKeyFile(pki.resolve("admin.key").toString())
            .withClientKeyAlgo("EC")
            .withConnectionTimeout(2_000)
            .withRequestTimeout(20_000)
            // waits are ours to bound, see Await
            .withRequestRetryBackoffLimit(0)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
