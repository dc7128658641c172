package io.vgpu.control.webhook;

import io.vgpu.claim.FormatException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * AdmissionReview v1 and v1beta1, as bytes: both have the same fields, and the answer takes the
 * version of the question. Pure; bounded in depth and in the length of texts and numbers.
 */
public final class AdmissionReviews {
  /**
   * An API request is at most 3 MiB, and an UPDATE carries the old object beside the new one; as
   * JSON with escapes.
   */
  public static final int MAX_BYTES = 8 << 20;

  private static final List<String> VERSIONS =
      List.of("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(200)
                          .maxNumberLength(100)
                          .maxStringLength(4 << 20)
                          .maxDocumentLength(MAX_BYTES)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private AdmissionReviews() {}

  /** Reads a question; throws {@link FormatException} that names what is wrong with the body. */
  public static AdmissionRequest parse(byte[] body) {
    JsonNode review = tree(body);
    String version = review.path("apiVersion").asString("");
    if (!VERSIONS.contains(version)) {
      throw new FormatException(
          "apiVersion \"" + clip(version) + "\": must be one of " + String.join(", ", VERSIONS));
    }
    JsonNode request = review.path("request");
    if (!request.isObject()) {
      throw new FormatException("request: must be an object");
    }
    String uid = text(request, "uid");
    JsonNode resource = request.path("resource");
    JsonNode object = objectOrNothing(request, "object");
    return new AdmissionRequest(
        version,
        uid,
        text(request, "operation"),
        resource.path("group").asString(""),
        text(resource, "resource"),
        request.path("subResource").asString(""),
        request.path("userInfo").path("username").asString(""),
        object,
        objectOrNothing(request, "oldObject"));
  }

  private static JsonNode tree(byte[] body) {
    if (body.length == 0) {
      throw new FormatException("empty body: an AdmissionReview is expected");
    }
    try {
      JsonNode review = JSON.readTree(body);
      if (!review.isObject()) {
        throw new FormatException("an AdmissionReview must be a JSON object");
      }
      return review;
    } catch (JacksonException e) {
      throw new FormatException(
          "the body is not the JSON of an AdmissionReview: " + clip(e.getOriginalMessage()), e);
    }
  }

  private static String text(JsonNode parent, String field) {
    JsonNode value = parent.path(field);
    if (!value.isString() || value.asString().isEmpty()) {
      throw new FormatException("request field " + field + ": must be a non-empty text");
    }
    return value.asString();
  }

  private static JsonNode objectOrNothing(JsonNode request, String field) {
    JsonNode value = request.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return JSON.missingNode();
    }
    if (!value.isObject()) {
      throw new FormatException("request." + field + ": must be an object");
    }
    return value;
  }

  /** The answer's body. */
  public static byte[] answer(AdmissionRequest request, Verdict verdict) {
    ObjectNode review = JSON.createObjectNode();
    review.put("apiVersion", request.apiVersion());
    review.put("kind", "AdmissionReview");
    ObjectNode response = review.putObject("response");
    response.put("uid", request.uid());
    switch (verdict) {
      case Verdict.Allowed allowed -> {
        response.put("allowed", true);
        if (!allowed.patch().isEmpty()) {
          ArrayNode patch = JSON.createArrayNode();
          allowed.patch().forEach(op -> patch.add(op.toJson()));
          response.put("patchType", "JSONPatch");
          response.put(
              "patch",
              Base64.getEncoder()
                  .encodeToString(patch.toString().getBytes(StandardCharsets.UTF_8)));
        }
      }
      case Verdict.Denied denied -> {
        response.put("allowed", false);
        ObjectNode status = response.putObject("status");
        status.put("status", "Failure");
        status.put("code", denied.code());
        status.put("reason", denied.reason());
        status.put("message", denied.message());
      }
    }
    return JSON.writeValueAsBytes(review);
  }

  private static String clip(String text) {
    return text.length() <= 200 ? text : text.substring(0, 200) + "…";
  }
}
