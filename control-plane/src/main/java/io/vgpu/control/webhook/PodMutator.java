package io.vgpu.control.webhook;

import io.vgpu.claim.Names;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.PodDemand;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Mends a pod at its creation (control-plane.md 5.1): completes what its limits leave open, takes
 * away keys that only our components may write, fills in defaults, and leads a pod with a fixed
 * node through the scheduler. Pure; works on the raw object, so that fields of newer API servers
 * survive. A second run changes nothing.
 *
 * <p>The users' own annotations are never taken away, also from pods without vGPUs (D5): there they
 * mean nothing, and the owner's object would no longer be what was applied.
 */
public final class PodMutator {
  private final Names names;
  private final PodDefaults defaults;

  public PodMutator(Names names, PodDefaults defaults) {
    this.names = names;
    this.defaults = defaults;
  }

  /** The changes to a pod that is being created; throws FormatException for one of wrong form. */
  public List<PatchOp> mutate(ObjectNode pod) {
    if (PodJson.isMirror(pod)) {
      return List.of();
    }
    Draft draft = new Draft(pod);
    for (PodJson.Place place : PodJson.containers(draft.root())) {
      completeLimits(draft, place);
    }
    dropOutputKeys(draft);
    PodDemand demand = PodJson.demand(draft.root(), names);
    if (demand.asksForVgpu()) {
      fillDefaults(draft);
    }
    if (demand.containers().stream().anyMatch(c -> c.number() > 1)) {
      annotate(draft, names.deviceTopologyMode(), defaults.topologyMode());
    }
    if (demand.asksForVgpu() || asksForSomethingScheduled(draft.root())) {
      leadThroughScheduler(draft);
    }
    return draft.patch();
  }

  /** Rules 1 and 2: cores or memory alone mean one card; a card alone means its whole compute. */
  private void completeLimits(Draft draft, PodJson.Place place) {
    ContainerDemand demand = PodJson.demand(place, names);
    long number = demand.number();
    if (number == 0 && (demand.cores() > 0 || demand.memory() > 0)) {
      setAmount(draft, place, names.vgpuNumber(), "1");
      number = 1;
    }
    if (number > 0 && demand.cores() == 0 && demand.memory() == 0) {
      setAmount(draft, place, names.vgpuCores(), "100");
    }
  }

  private static void setAmount(Draft draft, PodJson.Place place, String resource, String amount) {
    String index = Integer.toString(place.index());
    JsonNode value = JsonNodeFactory.instance.stringNode(amount);
    draft.set(value, "spec", place.list(), index, "resources", "limits", resource);
    // a request that is already written must equal its limit; a missing one the API server fills in
    if (place.container().path("resources").path("requests").has(resource)) {
      draft.set(value, "spec", place.list(), index, "resources", "requests", resource);
    }
  }

  /** Rule 3. */
  private void dropOutputKeys(Draft draft) {
    for (String key : names.outputAnnotations()) {
      draft.remove("metadata", "annotations", key);
    }
    for (String key : names.outputLabels()) {
      draft.remove("metadata", "labels", key);
    }
  }

  /** Rules 4a to 4c. */
  private void fillDefaults(Draft draft) {
    JsonNode spec = draft.root().path("spec");
    String scheduler = spec.path("schedulerName").asString("");
    if (scheduler.isEmpty() || scheduler.equals("default-scheduler")) {
      defaults
          .schedulerName()
          .filter(name -> !name.equals(scheduler))
          .ifPresent(
              name ->
                  draft.set(JsonNodeFactory.instance.stringNode(name), "spec", "schedulerName"));
    }
    annotate(draft, names.nodeSchedulerPolicy(), defaults.nodePolicy());
    annotate(draft, names.deviceSchedulerPolicy(), defaults.devicePolicy());
    if (spec.path("runtimeClassName").asString("").isEmpty()) {
      defaults
          .runtimeClass()
          .ifPresent(
              name ->
                  draft.set(JsonNodeFactory.instance.stringNode(name), "spec", "runtimeClassName"));
    }
  }

  private static void annotate(Draft draft, String key, Optional<String> value) {
    if (!draft.root().path("metadata").path("annotations").has(key)) {
      value.ifPresent(
          v -> draft.set(JsonNodeFactory.instance.stringNode(v), "metadata", "annotations", key));
    }
  }

  /** Rule 6: what no scheduler has looked at would be admitted without cards of its own. */
  private static void leadThroughScheduler(Draft draft) {
    String node = draft.root().path("spec").path("nodeName").asString("");
    if (!node.isEmpty()) {
      draft.set(
          JsonNodeFactory.instance.stringNode(node),
          "spec",
          "nodeSelector",
          "kubernetes.io/hostname");
      draft.remove("spec", "nodeName");
    }
  }

  private static boolean asksForSomethingScheduled(JsonNode pod) {
    JsonNode claims = pod.path("spec").path("resourceClaims");
    if (claims.isArray() && !claims.isEmpty()) {
      return true;
    }
    return PodJson.containers(pod).stream().anyMatch(PodMutator::asksForExtendedResource);
  }

  private static boolean asksForExtendedResource(PodJson.Place place) {
    JsonNode limits = place.container().path("resources").path("limits");
    String where = "spec." + place.list() + "[" + place.index() + "]";
    return limits.propertyNames().stream()
        .filter(name -> name.contains("/") && !name.contains("kubernetes.io/"))
        .anyMatch(name -> PodJson.whole(where, limits, name) > 0);
  }
}
