package io.vgpu.agent.measure;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Pods as the API tells them, for tests of what is counted of them. */
final class Pods implements NodePods {
  static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123456789abcdef");

  private final Map<String, NodePod> live = new LinkedHashMap<>();
  private boolean synced = true;

  /** A container, when it runs, and what it claims of a card. */
  record Wants(String name, ContainerKind kind, int cores, long memory) {}

  /** A pod whose containers all claim the same card. */
  static NodePod pod(String name, GpuUuid card, Wants... wants) {
    List<ContainerDemand> demand = new ArrayList<>();
    List<ContainerClaim> claims = new ArrayList<>();
    for (Wants w : wants) {
      demand.add(new ContainerDemand(w.name(), w.kind(), 1, w.cores(), w.memory()));
      claims.add(
          new ContainerClaim(
              w.name(),
              List.of(
                  new DeviceClaim(
                      0, card, new CorePercent(w.cores()), new MemoryMiB(w.memory())))));
    }
    PodClaim claim = new PodClaim(claims);
    String uid = "uid-" + name;
    return new NodePod(
        new PodRef("team", name, uid),
        "n1",
        Map.of(
            Names.DEFAULT.preAllocated(),
            ClaimCodec.encode(claim),
            Names.DEFAULT.claimHmac(),
            SEAL.seal(uid, claim)),
        Map.of(),
        new PodDemand(demand),
        "Running",
        false,
        Map.of(),
        Set.of(),
        false);
  }

  static NodePod phase(NodePod p, String phase) {
    return new NodePod(
        p.ref(),
        p.nodeName(),
        p.annotations(),
        p.labels(),
        p.demand(),
        phase,
        p.deleting(),
        p.containerIds(),
        p.running(),
        p.stranded());
  }

  static NodePod running(NodePod p, String... containers) {
    return new NodePod(
        p.ref(),
        p.nodeName(),
        p.annotations(),
        p.labels(),
        p.demand(),
        p.phase(),
        p.deleting(),
        p.containerIds(),
        Set.of(containers),
        p.stranded());
  }

  static NodePod annotated(NodePod p, String key, String value) {
    Map<String, String> annotations = new LinkedHashMap<>(p.annotations());
    annotations.put(key, value);
    return new NodePod(
        p.ref(),
        p.nodeName(),
        annotations,
        p.labels(),
        p.demand(),
        p.phase(),
        p.deleting(),
        p.containerIds(),
        p.running(),
        p.stranded());
  }

  void put(NodePod pod) {
    live.put(pod.ref().uid(), pod);
  }

  void remove(NodePod pod) {
    live.remove(pod.ref().uid());
  }

  void synced(boolean now) {
    synced = now;
  }

  @Override
  public boolean synced() {
    return synced;
  }

  @Override
  public List<NodePod> live() {
    return List.copyOf(live.values());
  }

  @Override
  public Optional<NodePod> live(String uid) {
    return Optional.ofNullable(live.get(uid));
  }

  @Override
  public List<NodePod> named(String namespace, String name) {
    return live().stream().filter(p -> p.ref().name().equals(name)).toList();
  }

  @Override
  public Optional<NodePod> fetch(String namespace, String name, Duration deadline) {
    return named(namespace, name).stream().findFirst();
  }
}
