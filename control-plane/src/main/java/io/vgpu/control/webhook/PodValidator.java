package io.vgpu.control.webhook;

import io.vgpu.claim.Names;
import io.vgpu.model.DemandCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Refuses what could never run, with the words of filter and bind, and guards the keys that only
 * our components may write (control-plane.md 5.2, D5), for API servers without
 * ValidatingAdmissionPolicy. Pure.
 */
public final class PodValidator {
  private final Names names;
  private final Set<String> trustedAccounts;

  /** {@code trustedAccounts}: user names whose writes of our keys pass. */
  public PodValidator(Names names, Set<String> trustedAccounts) {
    this.names = names;
    this.trustedAccounts = Set.copyOf(trustedAccounts);
  }

  /** Looks at a pod's creation, at updates of it, and at bindings. */
  public Verdict validate(AdmissionRequest request) {
    JsonNode now = request.object();
    if (request.creates("pods")) {
      if (PodJson.isMirror(now)) {
        return Verdict.UNTOUCHED;
      }
      Optional<String> breach = DemandCheck.firstBreach(PodJson.demand(now, names));
      return breach.isPresent() ? Verdict.Denied.invalid(breach.get()) : guard(request);
    }
    boolean guarded = request.updatesPod() || request.bindsPod();
    return guarded ? guard(request) : Verdict.UNTOUCHED;
  }

  private Verdict guard(AdmissionRequest request) {
    if (trustedAccounts.contains(request.username())) {
      return Verdict.UNTOUCHED;
    }
    List<String> changed = new ArrayList<>();
    changed(request, "annotations", names.outputAnnotations(), changed);
    changed(request, "labels", names.outputLabels(), changed);
    if (changed.isEmpty()) {
      return Verdict.UNTOUCHED;
    }
    return Verdict.Denied.forbidden(
        "only the vGPU components may set, change or remove "
            + String.join(", ", changed)
            + ", not "
            + request.username());
  }

  private static void changed(
      AdmissionRequest request, String kind, List<String> keys, List<String> changed) {
    JsonNode now = request.object().path("metadata").path(kind);
    JsonNode old = request.oldObject().path("metadata").path(kind);
    for (String key : keys) {
      if (!now.path(key).equals(old.path(key))) {
        changed.add(kind.substring(0, kind.length() - 1) + " " + key);
      }
    }
  }
}
