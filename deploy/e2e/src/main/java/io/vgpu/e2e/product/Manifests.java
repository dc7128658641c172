package io.vgpu.e2e.product;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.e2e.cluster.Cluster;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

/**
 * Applies what {@code deploy/classic-local} describes, with the webhook's address of this cluster
 * filled in.
 */
final class Manifests {
  private final Cluster cluster;
  private final Checkout checkout;

  Manifests(Cluster cluster, Checkout checkout) {
    this.cluster = cluster;
    this.checkout = checkout;
  }

  /** Accounts and roles of every part. */
  void applyRbac() {
    load("rbac.yaml").forEach(o -> client().resource(o).serverSideApply());
  }

  /** The API server's own guard of our keys (D5), on or off. */
  void guard(boolean on) {
    set("claim-guard.yaml", on);
  }

  /** Whether the API server asks our webhook. */
  void webhook(boolean on) {
    set("webhook-configuration.yaml", on);
  }

  private void set(String manifest, boolean on) {
    for (HasMetadata object : load(manifest)) {
      if (on) {
        client().resource(object).forceConflicts().serverSideApply();
      } else {
        client().resource(object).delete();
      }
    }
  }

  private KubernetesClient client() {
    return cluster.client();
  }

  private List<HasMetadata> load(String name) {
    Path file = checkout.manifest(name);
    try (InputStream in = Files.newInputStream(file)) {
      List<HasMetadata> objects = client().load(in).items();
      for (HasMetadata o : objects) {
        switch (o) {
          case MutatingWebhookConfiguration c ->
              c.getWebhooks().forEach(w -> w.setClientConfig(here(w.getClientConfig())));
          case ValidatingWebhookConfiguration c ->
              c.getWebhooks().forEach(w -> w.setClientConfig(here(w.getClientConfig())));
          default -> {}
        }
      }
      return objects;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  /** A Service leads to pods; our webhook is a host process, so its address is given by URL. */
  private WebhookClientConfig here(WebhookClientConfig config) {
    try {
      String path = config.getService() == null ? "" : config.getService().getPath();
      config.setService(null);
      config.setUrl(
          "https://" + cluster.config().nodeIp() + ":" + OurPart.WEBHOOK.opsPort() + path);
      config.setCaBundle(
          Base64.getEncoder().encodeToString(Files.readAllBytes(cluster.paths().caCertificate())));
      return config;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the cluster's certificate authority", e);
    }
  }
}
