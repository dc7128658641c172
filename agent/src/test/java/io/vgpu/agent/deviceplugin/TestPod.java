package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** A pod as the scheduler leaves it: demand, claim and seal; each change makes another record. */
record TestPod(
    PodRef ref,
    PodDemand demand,
    Map<String, String> annotations,
    Map<String, String> labels,
    String phase,
    boolean deleting,
    Set<String> started,
    boolean stranded) {
  static final String NODE = "gpu-1";
  static final Names NAMES = Names.DEFAULT;
  static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123456789abcdef");

  /** A container and the indices of the cards that it claims. */
  record Want(String name, ContainerKind kind, List<Integer> cards) {}

  static Want init(String name, Integer... cards) {
    return new Want(name, ContainerKind.INIT, List.of(cards));
  }

  static Want sidecar(String name, Integer... cards) {
    return new Want(name, ContainerKind.SIDECAR, List.of(cards));
  }

  static Want app(String name, Integer... cards) {
    return new Want(name, ContainerKind.APP, List.of(cards));
  }

  static TestPod of(String name, Want... wants) {
    return of(new PodRef("ns", name, "uid-" + name), List.of(wants));
  }

  static TestPod of(PodRef ref, List<Want> wants) {
    List<ContainerDemand> demands = new ArrayList<>();
    List<ContainerClaim> claims = new ArrayList<>();
    for (Want w : wants) {
      int n = w.cards().size();
      demands.add(new ContainerDemand(w.name(), w.kind(), n, n == 0 ? 0 : 20, n == 0 ? 0 : 1024));
      if (!w.cards().isEmpty()) {
        claims.add(new ContainerClaim(w.name(), devices(w.cards())));
      }
    }
    Map<String, String> annotations = new LinkedHashMap<>();
    if (claims.isEmpty()) {
      return new TestPod(
          ref, new PodDemand(demands), annotations, Map.of(), "Pending", false, Set.of(), false);
    }
    PodClaim claim = new PodClaim(claims);
    annotations.put(NAMES.preAllocated(), ClaimCodec.encode(claim));
    annotations.put(NAMES.claimHmac(), SEAL.seal(ref.uid(), claim));
    annotations.put(NAMES.predicateNode(), NODE);
    return new TestPod(
        ref, new PodDemand(demands), annotations, Map.of(), "Pending", false, Set.of(), false);
  }

  private static List<DeviceClaim> devices(List<Integer> cards) {
    return IntStream.range(0, cards.size())
        .mapToObj(
            i ->
                new DeviceClaim(
                    cards.get(i),
                    FixedInventory.uuid(cards.get(i)),
                    new CorePercent(20),
                    new MemoryMiB(1024)))
        .toList();
  }

  TestPod annotated(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(annotations);
    more.put(key, value);
    return new TestPod(ref, demand, more, labels, phase, deleting, started, stranded);
  }

  TestPod without(String key) {
    Map<String, String> fewer = new LinkedHashMap<>(annotations);
    fewer.remove(key);
    return new TestPod(ref, demand, fewer, labels, phase, deleting, started, stranded);
  }

  TestPod running() {
    return in("Running", demand.containers().stream().map(ContainerDemand::name).toList());
  }

  TestPod in(String phase, List<String> started) {
    return new TestPod(
        ref, demand, annotations, labels, phase, deleting, Set.copyOf(started), stranded);
  }

  TestPod terminating() {
    return new TestPod(ref, demand, annotations, labels, phase, true, started, stranded);
  }

  TestPod asStranded() {
    return new TestPod(ref, demand, annotations, labels, phase, deleting, started, true);
  }

  /** Another pod under the same name. */
  TestPod again(String uid, Want... wants) {
    return of(new PodRef(ref.namespace(), ref.name(), uid), List.of(wants));
  }

  Set<String> claimed(String container) {
    Set<String> uuids = new java.util.TreeSet<>();
    ClaimCodec.decode(annotations.getOrDefault(NAMES.preAllocated(), ""))
        .of(container)
        .orElseThrow()
        .uuids()
        .forEach(u -> uuids.add(u.value()));
    return uuids;
  }

  NodePod node() {
    Map<String, String> ids = new java.util.TreeMap<>();
    started.forEach(name -> ids.put(name, "id-of-" + name));
    return new NodePod(
        ref, NODE, annotations, labels, demand, phase, deleting, ids, started, stranded);
  }
}
