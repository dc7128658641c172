package io.vgpu.control.scheduler;

import tools.jackson.databind.JsonNode;

/**
 * Whether a pod would rather be here than there by rules that kube-scheduler scores and we do not
 * know: such a pod must be shown every node that fits, or its rules choose among our best only.
 * Pure.
 */
final class SoftConstraints {
  private static final String PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

  private SoftConstraints() {}

  /** Whether a pod as the API server writes it has any. */
  static boolean in(JsonNode pod) {
    JsonNode spec = pod.path("spec");
    JsonNode affinity = spec.path("affinity");
    return prefers(affinity.path("nodeAffinity"))
        || prefers(affinity.path("podAffinity"))
        || prefers(affinity.path("podAntiAffinity"))
        || spreadsWhereItCan(spec.path("topologySpreadConstraints"));
  }

  private static boolean prefers(JsonNode affinity) {
    return !affinity.path(PREFERRED).isEmpty();
  }

  private static boolean spreadsWhereItCan(JsonNode constraints) {
    for (JsonNode constraint : constraints) {
      if (constraint.path("whenUnsatisfiable").asString("").equals("ScheduleAnyway")) {
        return true;
      }
    }
    return false;
  }
}
