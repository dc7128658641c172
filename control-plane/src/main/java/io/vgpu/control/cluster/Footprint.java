package io.vgpu.control.cluster;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a pod takes of each card: {@code sidecars + max(apps, largest sequential init)} per
 * dimension (control-plane.md 3.5). A finished init's ids go to the next container (D3), so its
 * slot is not counted twice; where a sidecar takes them the sum errs towards more.
 *
 * @param host the CPU and memory that it requests
 */
public record Footprint(Map<GpuUuid, Use> cards, Host host) {
  public static final Footprint NONE = new Footprint(Map.of(), Host.ZERO);

  public Footprint {
    cards = Map.copyOf(cards);
  }

  /** Of a claim, and what the pod requests of the host. */
  public static Footprint of(PodClaim claim, PodRequest pod) {
    return new Footprint(of(claim, pod.demand()).cards(), pod.host());
  }

  /** What is free again when the pod goes. */
  public Footprint negated() {
    Map<GpuUuid, Use> less = new HashMap<>();
    cards.forEach((card, use) -> less.put(card, Use.ZERO.minus(use)));
    return new Footprint(less, Host.ZERO.minus(host));
  }

  /** Of a pod without cards. */
  public static Footprint of(Host host) {
    return new Footprint(Map.of(), host);
  }

  /** Of a claim; a container that the pod does not have counts as an app container. */
  public static Footprint of(PodClaim claim, PodDemand demand) {
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
            Phases.NONE.with(kind, new Use(1, d.cores().value(), d.memory().value())),
            Phases::and);
      }
    }
    Map<GpuUuid, Use> cards = new HashMap<>();
    phases.forEach((uuid, p) -> cards.put(uuid, p.total()));
    return new Footprint(cards, Host.ZERO);
  }

  /** The same for one card while a pod is being planned. */
  public record Phases(Use sidecars, Use apps, Use inits) {
    public static final Phases NONE = new Phases(Use.ZERO, Use.ZERO, Use.ZERO);

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
}
