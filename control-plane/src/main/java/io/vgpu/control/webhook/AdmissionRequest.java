package io.vgpu.control.webhook;

import tools.jackson.databind.JsonNode;

/**
 * What the API server asks, of AdmissionReview v1 or v1beta1.
 *
 * @param apiVersion of the review, for the answer
 * @param resource plural name, of the core group
 * @param subResource empty for the object itself
 * @param object the object as it shall be; missing on DELETE
 * @param oldObject the object as it is; missing on CREATE
 */
public record AdmissionRequest(
    String apiVersion,
    String uid,
    String operation,
    String group,
    String resource,
    String subResource,
    String username,
    JsonNode object,
    JsonNode oldObject) {

  boolean creates(String plural) {
    return is("CREATE", plural, "");
  }

  boolean updatesPod() {
    // with sub-resources: metadata can be changed through pods/status too
    return operation.equals("UPDATE") && group.isEmpty() && resource.equals("pods");
  }

  /** Whoever may bind could write a claim through the binding's annotations. */
  boolean bindsPod() {
    return is("CREATE", "pods", "binding") || is("CREATE", "bindings", "");
  }

  private boolean is(String verb, String plural, String sub) {
    return operation.equals(verb)
        && group.isEmpty()
        && resource.equals(plural)
        && subResource.equals(sub);
  }
}
