package io.vgpu.control.cluster;

import io.vgpu.model.GpuUuid;
import io.vgpu.model.Phases;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Use;
import java.util.HashMap;
import java.util.Map;

/**
 * What a pod takes of each card ({@link Phases}; control-plane.md 3.5). A finished init's ids go to
 * the next container (D3), so its slot is not counted twice; where a sidecar takes them the sum
 * errs towards more.
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
    return new Footprint(Phases.perCard(claim, demand), Host.ZERO);
  }
}
