package io.vgpu.control.reschedule;

import io.vgpu.claim.Names;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * The cleaned copy of a pod, fit to be made again (node-agent.md 6): without what the API server
 * gave it, without its place and its allocation, and with the note whose successor it is. Pure;
 * works on the raw object, so that fields we do not know are made again too.
 */
public final class PodCopies {
  private static final List<String> GIVEN_METADATA =
      List.of(
          "uid",
          "resourceVersion",
          "creationTimestamp",
          "generation",
          "managedFields",
          "selfLink",
          "deletionTimestamp",
          "deletionGracePeriodSeconds");

  /**
   * Beside the place: what admission works out from class names and refuses when it is given and
   * has changed since; and what may be added to a running pod only.
   */
  private static final List<String> GIVEN_SPEC =
      List.of("nodeName", "priority", "preemptionPolicy", "overhead", "ephemeralContainers");

  private PodCopies() {}

  /** The copy of a pod that was itself made {@code replacements} times in a row before. */
  public static ObjectNode of(ObjectNode pod, Names names, int replacements) {
    ObjectNode copy = pod.deepCopy();
    String uid = pod.path("metadata").path("uid").asString("");
    copy.remove("status");
    copy.put("apiVersion", "v1");
    copy.put("kind", "Pod");
    if (copy.path("spec") instanceof ObjectNode spec) {
      spec.remove(GIVEN_SPEC);
    }
    ObjectNode metadata = copy.withObject("/metadata");
    metadata.remove(GIVEN_METADATA);
    if (metadata.path("labels") instanceof ObjectNode labels) {
      labels.remove(names.outputLabels());
    }
    ObjectNode annotations = metadata.withObject("/annotations");
    annotations.remove(names.outputAnnotations());
    annotations.remove(Names.ORIGINAL_RESOURCES);
    annotations.put(Names.REPLACES, uid);
    annotations.put(Names.REPLACEMENTS, Integer.toString(replacements + 1));
    return copy;
  }
}
