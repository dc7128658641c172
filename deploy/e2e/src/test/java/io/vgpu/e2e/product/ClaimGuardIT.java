package io.vgpu.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The guard of D5 on the real API server: nobody but our accounts writes, changes or takes away a
 * claim, by whatever way the API offers, not even the cluster's administrator; what is the users'
 * own to write passes.
 */
@RealCluster
class ClaimGuardIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Names NAMES = Names.DEFAULT;
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String FORGED = "main[0_GPU-12345678-1234-1234-1234-123456780000_99_80000]";

  private final Cluster cluster;
  private final String namespace;
  private final Product product;

  ClaimGuardIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.namespace = namespace.name();
    this.product = new Product(cluster, Checkout.find());
  }

  @AfterEach
  void end() {
    cluster.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
    product.stop();
    product.forgetCopies();
  }

  private Pod create(String name, String scheduler) {
    Pod pod =
        VgpuPods.pod(
            namespace,
            name,
            Map.of(),
            List.of(VgpuPods.container("main", VgpuPods.limits(1, 10, 1000), "exec sleep 600")));
    pod.getSpec().setSchedulerName(scheduler);
    return cluster.client().resource(pod).create();
  }

  private void patch(String pod, String key, String value) {
    cluster
        .client()
        .pods()
        .inNamespace(namespace)
        .withName(pod)
        .patch(MERGE, annotated(key, value));
  }

  private void patchStatus(String pod, String key, String value) {
    cluster
        .client()
        .pods()
        .inNamespace(namespace)
        .withName(pod)
        .subresource("status")
        .patch(MERGE, annotated(key, value));
  }

  private static String annotated(String key, String value) {
    return "{\"metadata\":{\"annotations\":{\"%s\":%s}}}".formatted(key, value);
  }

  private void bind(String path, String pod, String annotations) {
    cluster
        .client()
        .raw(
            "/api/v1/namespaces/" + namespace + "/" + path,
            "POST",
            """
            {"apiVersion":"v1","kind":"Binding","metadata":{"name":"%s","annotations":%s},
             "target":{"apiVersion":"v1","kind":"Node","name":"%s"}}"""
                .formatted(pod, annotations, cluster.node().getMetadata().getName()));
  }

  private String annotation(String pod, String key) {
    Map<String, String> all =
        cluster
            .client()
            .pods()
            .inNamespace(namespace)
            .withName(pod)
            .get()
            .getMetadata()
            .getAnnotations();
    return all == null ? "" : all.getOrDefault(key, "");
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable write, String key) {
    assertThatThrownBy(write)
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403))
        .hasMessageContaining("only the vGPU components may set, change or remove")
        .hasMessageContaining(key);
  }

  @Test
  void noWayOfTheApiLeadsToAClaimButOurs() {
    product.start(ProductConfig.DEFAULT);
    create("waits", "nobody");
    String quoted = "\"" + FORGED + "\"";
    String forged = "{\"%s\":%s}".formatted(NAMES.preAllocated(), quoted);
    // the policy takes effect a moment after it was made: later writes are judged by it
    Await.until(
        "the guard to hold",
        LIMIT,
        () -> {
          try {
            patch("waits", NAMES.metricsNode(), "\"x\"");
            return false;
          } catch (KubernetesClientException e) {
            return e.getCode() == 403;
          }
        });
    for (String key : NAMES.outputAnnotations()) {
      refused(() -> patch("waits", key, quoted), key);
      refused(() -> patchStatus("waits", key, quoted), key);
    }
    refused(() -> bind("pods/waits/binding", "waits", forged), NAMES.preAllocated());
    refused(() -> bind("bindings", "waits", forged), NAMES.preAllocated());
    for (String key : NAMES.outputLabels()) {
      refused(
          () ->
              cluster
                  .client()
                  .pods()
                  .inNamespace(namespace)
                  .withName("waits")
                  .patch(MERGE, "{\"metadata\":{\"labels\":{\"%s\":\"failed\"}}}".formatted(key)),
          key);
    }
    assertThat(annotation("waits", NAMES.preAllocated())).isEmpty();

    create("placed", "vgpu-scheduler");
    Await.until("a claim", LIMIT, () -> !annotation("placed", NAMES.preAllocated()).isEmpty());
    String claim = annotation("placed", NAMES.preAllocated());
    refused(() -> patch("placed", NAMES.preAllocated(), quoted), NAMES.preAllocated());
    refused(() -> patch("placed", NAMES.preAllocated(), "null"), NAMES.preAllocated());
    refused(() -> patchStatus("placed", NAMES.claimHmac(), "null"), NAMES.claimHmac());
    assertThat(annotation("placed", NAMES.preAllocated())).isEqualTo(claim);

    // what is theirs to write passes
    assertThatCode(() -> patch("waits", NAMES.includeGpuType(), "\"A100\""))
        .doesNotThrowAnyException();
    assertThatCode(() -> patchStatus("waits", "example.com/note", "\"x\""))
        .doesNotThrowAnyException();
    assertThatCode(() -> bind("pods/waits/binding", "waits", "{}")).doesNotThrowAnyException();
  }

  /** The control: without the guard each of these ways is open. */
  @Test
  void withoutTheGuardEveryWayIsOpen() {
    create("a", "nobody");
    create("b", "nobody");
    create("c", "nobody");
    String quoted = "\"" + FORGED + "\"";
    String forged = "{\"%s\":%s}".formatted(NAMES.preAllocated(), quoted);
    // a guard that an earlier test took away may hold for a moment more
    Await.until(
        "no guard to hold",
        LIMIT,
        () -> {
          try {
            patch("a", NAMES.preAllocated(), quoted);
            return true;
          } catch (KubernetesClientException e) {
            return false;
          }
        });
    assertThat(annotation("a", NAMES.preAllocated())).isEqualTo(FORGED);
    patchStatus("b", NAMES.preAllocated(), quoted);
    assertThat(annotation("b", NAMES.preAllocated())).isEqualTo(FORGED);
    bind("pods/c/binding", "c", forged);
    assertThat(annotation("c", NAMES.preAllocated())).isEqualTo(FORGED);
  }
}
