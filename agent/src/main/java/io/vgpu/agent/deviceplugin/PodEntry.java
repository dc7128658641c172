package io.vgpu.agent.deviceplugin;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the agent gave to one pod, container by container, with all that it takes to go on without
 * asking anybody: claim, seal, and the order in which the kubelet asks.
 *
 * @param policy the pod's own compute policy text, may be empty
 * @param latency the pod asks that its launches wait for no turn
 * @param ended the pod will not run (again): its ids are free, its files may go
 */
record PodEntry(
    PodRef pod,
    PodClaim claim,
    String seal,
    String policy,
    boolean latency,
    List<Turn> order,
    Map<String, Held> held,
    boolean ended) {

  /** One vGPU container, in the order in which the kubelet asks for their devices. */
  record Turn(String container, ContainerKind kind, long number) {}

  /**
   * Ids of one container.
   *
   * @param asked the kubelet asked before a start: a container that has started without that was
   *     started without its devices, by a kubelet that lost its checkpoint before we were
   *     registered again
   * @param library file name of the library that its mounts name, at each of its starts too; empty
   *     where that is not known: before Allocate, from the kubelet's word, of an older release
   */
  record Held(Set<String> ids, Stage stage, boolean asked, String library) {
    Held {
      ids = Set.copyOf(ids);
    }
  }

  /** How far a container got. */
  enum Stage {
    /** Answered to GetPreferredAllocation; Allocate has to come with just these. */
    PROPOSED,
    /** Allocate was answered and the container's files are there. */
    ATTACHED
  }

  PodEntry {
    order = List.copyOf(order);
    held = Map.copyOf(held);
  }

  /** The order of a pod's vGPU containers. */
  static List<Turn> turns(PodDemand demand) {
    return demand.vgpuContainers().stream()
        .map(c -> new Turn(c.name(), c.kind(), c.number()))
        .toList();
  }

  boolean attached(String container) {
    Held h = held.get(container);
    return h != null && h.stage() == Stage.ATTACHED;
  }

  /** Whether the kubelet asked before a start of the container, so that it may run. */
  boolean asked(String container) {
    Held h = held.get(container);
    return h != null && h.asked();
  }

  Optional<ContainerClaim> claimOf(String container) {
    return claim.of(container);
  }

  /** The first container in order that has not got its devices. */
  Optional<Turn> next() {
    return order.stream().filter(t -> !attached(t.container())).findFirst();
  }

  /** Whether every vGPU container has its devices. */
  boolean complete() {
    return next().isEmpty();
  }

  /**
   * The ids that the kubelet reuses for a container: those of sequential init containers before it,
   * less what sidecars and app containers before it took for good.
   */
  Set<String> reusableBefore(String container) {
    Set<String> ids = new LinkedHashSet<>();
    for (Turn t : order) {
      if (t.container().equals(container)) {
        return ids;
      }
      Held h = held.get(t.container());
      if (h != null && h.stage() == Stage.ATTACHED) {
        switch (t.kind()) {
          case INIT -> ids.addAll(h.ids());
          case SIDECAR, APP -> ids.removeAll(h.ids());
        }
      }
    }
    return ids;
  }

  /** Whether any container of the pod holds the id. */
  boolean holds(String id) {
    return held.values().stream().anyMatch(h -> h.ids().contains(id));
  }

  /** Whether any container of the pod was allocated the id. */
  boolean runsOn(String id) {
    return held.values().stream()
        .anyMatch(h -> h.stage() == Stage.ATTACHED && h.ids().contains(id));
  }

  PodEntry with(String container, Set<String> ids, Stage stage) {
    return with(container, ids, stage, "");
  }

  /** Allocate is answered with a mount of this library. */
  PodEntry attached(String container, Set<String> ids, String library) {
    return with(container, ids, Stage.ATTACHED, library);
  }

  private PodEntry with(String container, Set<String> ids, Stage stage, String library) {
    Map<String, Held> more = new LinkedHashMap<>(held);
    Held before = held.get(container);
    // the kubelet may admit a pod anew that runs: what it asked before stays true of the same ids
    boolean asked = before != null && before.asked() && before.ids().equals(ids);
    more.put(container, new Held(ids, stage, asked, library));
    return new PodEntry(pod, claim, seal, policy, latency, order, more, ended);
  }

  /** The kubelet asked whether the container may start. */
  PodEntry asAsked(String container) {
    Map<String, Held> more = new LinkedHashMap<>(held);
    more.computeIfPresent(container, (c, h) -> new Held(h.ids(), h.stage(), true, h.library()));
    return new PodEntry(pod, claim, seal, policy, latency, order, more, ended);
  }

  PodEntry asEnded() {
    return new PodEntry(pod, claim, seal, policy, latency, order, held, true);
  }
}
