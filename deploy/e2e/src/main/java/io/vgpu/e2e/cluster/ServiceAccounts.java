package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Gives each of our processes an identity of its own: a service account's token by TokenRequest, as
 * the kubelet would mount it, in a kubeconfig file.
 */
public final class ServiceAccounts {
  private static final Duration LIFETIME = Duration.ofHours(24);

  private final KubernetesClient client;
  private final ClusterPaths paths;
  private final Kubeconfigs kubeconfigs;

  ServiceAccounts(KubernetesClient client, ClusterPaths paths, Kubeconfigs kubeconfigs) {
    this.client = client;
    this.paths = paths;
    this.kubeconfigs = kubeconfigs;
  }

  /**
   * Writes a kubeconfig for the account (made, with its namespace, where missing) and returns the
   * file.
   */
  public Path kubeconfigFor(String namespace, String name) {
    Path file = paths.kubeconfig(namespace + "-" + name);
    kubeconfigs.writeForToken(file, token(namespace, name));
    return file;
  }

  /** A fresh token of the account, good for 24 hours at the API's own audience. */
  public String token(String namespace, String name) {
    ensure(namespace, name);
    TokenRequest request =
        new TokenRequestBuilder()
            .withNewSpec()
            .withExpirationSeconds(LIFETIME.toSeconds())
            .endSpec()
            .build();
    return client
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(name)
        .tokenRequest(request)
        .getStatus()
        .getToken();
  }

  private void ensure(String namespace, String name) {
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .serverSideApply();
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .build())
        .serverSideApply();
  }
}
