package io.vgpu.control.webhook;

import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Reads a pod as it came over the wire, without a typed model between: what we do not know stays as
 * it is. Pure; a field of the wrong form throws {@link FormatException} that names it.
 */
final class PodJson {
  static final String MIRROR = "kubernetes.io/config.mirror";

  // also bounds what the number's parser is given: an exponent of many digits would cost it memory.
  // A digit must stand before the exponent, or there is no number.
  private static final Pattern QUANTITY =
      Pattern.compile(
          "[+-]?(?=\\.?[0-9])[0-9]{0,40}(\\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2}|[KMGTPE]i|[numkMGTPE])?");

  private PodJson() {}

  /** Where a container stands in the pod. */
  record Place(String list, int index, JsonNode container) {}

  /** All containers, init containers first, in spec order. */
  static List<Place> containers(JsonNode pod) {
    List<Place> places = new ArrayList<>();
    for (String list : List.of("initContainers", "containers")) {
      JsonNode array = pod.path("spec").path(list);
      if (array.isMissingNode() || array.isNull()) {
        continue;
      }
      if (!array.isArray()) {
        throw new FormatException("spec." + list + ": must be an array");
      }
      for (int i = 0; i < array.size(); i++) {
        places.add(new Place(list, i, array.get(i)));
      }
    }
    return places;
  }

  /** What the pod asks for, as {@link PodDemands} reads it from the typed pod. */
  static PodDemand demand(JsonNode pod, Names names) {
    List<ContainerDemand> demands = new ArrayList<>();
    for (Place place : containers(pod)) {
      demands.add(demand(place, names));
    }
    return new PodDemand(demands);
  }

  static ContainerDemand demand(Place place, Names names) {
    JsonNode container = place.container();
    String where = "spec." + place.list() + "[" + place.index() + "]";
    JsonNode name = container.path("name");
    if (!name.isString() || name.asString().isEmpty()) {
      throw new FormatException(where + ".name: must be a non-empty text");
    }
    ContainerKind kind =
        place.list().equals("containers")
            ? ContainerKind.APP
            : container.path("restartPolicy").asString("").equals("Always")
                ? ContainerKind.SIDECAR
                : ContainerKind.INIT;
    JsonNode limits = container.path("resources").path("limits");
    return new ContainerDemand(
        name.asString(),
        kind,
        whole(where, limits, names.vgpuNumber()),
        whole(where, limits, names.vgpuCores()),
        whole(where, limits, names.vgpuMemory()));
  }

  /** A quantity rounded up to a whole number; absent is 0. */
  static long whole(String where, JsonNode amounts, String resource) {
    JsonNode amount = amounts.path(resource);
    if (amount.isMissingNode() || amount.isNull()) {
      return 0;
    }
    String text = amount.isString() || amount.isNumber() ? amount.asString().strip() : "";
    if (!QUANTITY.matcher(text).matches()) {
      throw new FormatException(
          where + ".resources.limits[" + resource + "]: \"" + clip(text) + "\" must be a quantity");
    }
    return PodDemands.whole(Quantity.parse(text));
  }

  private static String clip(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }

  /** A mirror pod only shows what the kubelet already runs from a file; changing it breaks it. */
  static boolean isMirror(JsonNode pod) {
    return pod.path("metadata").path("annotations").has(MIRROR);
  }
}
