package io.vgpu.e2e.demo;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Pki.KeyPairFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An attacker with an admission webhook of his own, where nobody guards our keys: he edits each
 * claim inside the Binding, so that the first thing the kubelet ever sees is the forged one. (An
 * edit after the bind comes too late to matter: the kubelet admits what it saw first.)
 */
final class ClaimForger implements AutoCloseable {
  private static final int PORT = 9444;
  private static final String NAME = "claim-forger";
  private static final Names NAMES = Names.DEFAULT;

  private final Cluster cluster;
  private final Narrator say;
  private final Vertx vertx = Vertx.vertx();
  private volatile boolean asked;

  ClaimForger(Cluster cluster, Narrator say) {
    this.cluster = cluster;
    this.say = say;
    KeyPairFiles pair = cluster.pki().server(NAME, List.of("IP:" + cluster.config().hostIp()));
    HttpServerOptions https =
        new HttpServerOptions()
            .setSsl(true)
            .setKeyCertOptions(
                new PemKeyCertOptions()
                    .addCertPath(pair.certificate().toString())
                    .addKeyPath(pair.key().toString()));
    vertx
        .createHttpServer(https)
        .requestHandler(this::answer)
        .listen(PORT, cluster.config().hostIp())
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(10, TimeUnit.SECONDS)
        .join();
    register();
    Await.until("the API server to ask the forger", Duration.ofSeconds(20), this::isAsked);
  }

  /**
   * A webhook takes effect some time after it is registered: a Binding of nobody, tried in vain,
   * shows when.
   */
  private boolean isAsked() {
    try {
      Map<String, Object> nobody =
          Map.of(
              "apiVersion",
              "v1",
              "kind",
              "Binding",
              "metadata",
              Map.of("name", "nobody"),
              "target",
              Map.of("kind", "Node", "name", cluster.config().nodeName()));
      cluster
          .client()
          .raw("/api/v1/namespaces/default/pods/nobody/binding?dryRun=All", "POST", nobody);
    } catch (KubernetesClientException e) {
      return asked; // there is no such pod; what matters is who was asked before that was found out
    }
    return asked;
  }

  private void register() {
    try {
      String authority =
          Base64.getEncoder().encodeToString(Files.readAllBytes(cluster.paths().caCertificate()));
      cluster
          .client()
          .resource(
              new MutatingWebhookConfigurationBuilder()
                  .withNewMetadata()
                  .withName(NAME)
                  .endMetadata()
                  .addNewWebhook()
                  .withName("forger.example.com")
                  .withAdmissionReviewVersions("v1")
                  .withSideEffects("None")
                  .withFailurePolicy("Fail")
                  .withNewClientConfig()
                  .withUrl("https://" + cluster.config().hostIp() + ":" + PORT + "/")
                  .withCaBundle(authority)
                  .endClientConfig()
                  .addNewRule()
                  .withApiGroups("")
                  .withApiVersions("v1")
                  .withOperations("CREATE")
                  .withResources("pods/binding")
                  .endRule()
                  .endWebhook()
                  .build())
          .serverSideApply();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the cluster's certificate authority", e);
    }
  }

  private void answer(HttpServerRequest request) {
    asked = true;
    request
        .body()
        .onSuccess(
            body ->
                request
                    .response()
                    .putHeader("Content-Type", "application/json")
                    .end(forge(JsonMapper.shared().readTree(body.getBytes()))));
  }

  private String forge(JsonNode review) {
    ObjectNode answer = JsonMapper.shared().createObjectNode();
    answer.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
    ObjectNode response = answer.putObject("response");
    response.put("uid", review.path("request").path("uid").asString("")).put("allowed", true);
    String claim =
        review
            .path("request")
            .path("object")
            .path("metadata")
            .path("annotations")
            .path(NAMES.preAllocated())
            .asString("");
    if (!claim.isEmpty()) {
      String forged = claim.replaceFirst("_\\d+]", "_40960]");
      say.step("break", "the claim was edited on its way to " + forged);
      ObjectNode operation = JsonMapper.shared().createObjectNode();
      operation
          .put("op", "replace")
          .put("path", "/metadata/annotations/" + NAMES.preAllocated().replace("/", "~1"))
          .put("value", forged);
      String patch = JsonMapper.shared().createArrayNode().add(operation).toString();
      response
          .put("patchType", "JSONPatch")
          .put("patch", Base64.getEncoder().encodeToString(patch.getBytes(StandardCharsets.UTF_8)));
    }
    return answer.toString();
  }

  @Override
  public void close() {
    cluster
        .client()
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName(NAME)
        .delete();
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }
}
