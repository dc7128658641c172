package io.vgpu.agent.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.agent.kube.ScrapeAccess.ReviewFailed;
import io.vgpu.agent.metrics.MetricsPage.Verdict;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** {@link ScrapeAccess.Reviews} by the API server's own reviews. Blocks for two requests. */
public final class ApiReviews implements ScrapeAccess.Reviews {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final KubernetesClient client;

  public ApiReviews(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Verdict review(String token) throws ReviewFailed {
    JsonNode who =
        create(
            "/apis/authentication.k8s.io/v1/tokenreviews",
            Map.of(
                "apiVersion",
                "authentication.k8s.io/v1",
                "kind",
                "TokenReview",
                "spec",
                Map.of("token", token)));
    if (!who.path("authenticated").asBoolean(false)) {
      return Verdict.UNKNOWN;
    }
    JsonNode user = who.path("user");
    Map<String, Object> spec = new LinkedHashMap<>();
    spec.put("user", user.path("username").asString(""));
    spec.put("uid", user.path("uid").asString(""));
    spec.put("groups", user.path("groups"));
    spec.put("extra", user.path("extra"));
    spec.values().removeIf(v -> v instanceof JsonNode node && node.isMissingNode());
    spec.put("nonResourceAttributes", Map.of("path", "/metrics", "verb", "get"));
    JsonNode may =
        create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            Map.of(
                "apiVersion",
                "authorization.k8s.io/v1",
                "kind",
                "SubjectAccessReview",
                "spec",
                spec));
    return may.path("allowed").asBoolean(false) ? Verdict.ALLOWED : Verdict.FORBIDDEN;
  }

  /** The status of what was asked. */
  private JsonNode create(String path, Map<String, Object> review) throws ReviewFailed {
    try {
      String answer = client.raw(path, "POST", JSON.writeValueAsString(review));
      if (answer == null) {
        throw new ReviewFailed(path + ": no answer");
      }
      return JSON.readTree(answer).path("status");
    } catch (KubernetesClientException | JacksonException e) {
      throw new ReviewFailed(path + ": " + e.getMessage());
    }
  }
}
