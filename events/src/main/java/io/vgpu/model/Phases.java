package io.vgpu.model;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a pod takes of one card, by when its containers run: {@code sidecars + max(apps, largest
 * sequential init)} per dimension (control-plane.md 3.5, node-agent.md 7.3). Scheduler and agent
 * count by this, so that their figures are the same.
 */
public record Phases(Use sidecars, Use apps, Use inits) {
  public static final Phases NONE = new Phases(Use.ZERO, Use.ZERO, Use.ZERO);

  /**
   * What a claim takes of each card; a container that the pod does not have counts as an app
   * container.
   */
  public static Map<GpuUuid, Use> perCard(PodClaim claim, PodDemand demand) {
    Map<String, ContainerKind> kinds = new HashMap<>();
    for (ContainerDemand c : demand.containers()) {
      kinds.put(c.name(), c.kind());
    }
    Map<GpuUuid, Phases> phases = new TreeMap<>();
    for (ContainerClaim container : claim.containers()) {
      ContainerKind kind = kinds.getOrDefault(container.container(), ContainerKind.APP);
      for (DeviceClaim d : container.devices()) {
        phases.merge(
            d.uuid(),
            NONE.with(kind, new Use(1, d.cores().value(), d.memory().value())),
            Phases::and);
      }
    }
    Map<GpuUuid, Use> cards = new HashMap<>();
    phases.forEach((uuid, p) -> cards.put(uuid, p.total()));
    return Map.copyOf(cards);
  }

  /** With one container more: sidecars and apps add up, sequential inits do not. */
  public Phases with(ContainerKind kind, Use use) {
    return switch (kind) {
      case SIDECAR -> new Phases(sidecars.plus(use), apps, inits);
      case APP -> new Phases(sidecars, apps.plus(use), inits);
      case INIT -> new Phases(sidecars, apps, inits.max(use));
    };
  }

  private Phases and(Phases o) {
    return new Phases(sidecars.plus(o.sidecars), apps.plus(o.apps), inits.max(o.inits));
  }

  /** What a container of this kind meets already in use by its own pod. */
  public Use before(ContainerKind kind) {
    return switch (kind) {
      case SIDECAR -> total();
      case APP -> sidecars.plus(apps);
      case INIT -> sidecars;
    };
  }

  /** What the pod takes of the card. */
  public Use total() {
    return sidecars.plus(apps.max(inits));
  }
}
