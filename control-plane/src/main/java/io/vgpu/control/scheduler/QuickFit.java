package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.CardSums;
import io.vgpu.control.cluster.MemoryPolicy;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.packing.Room;
import io.vgpu.control.scheduler.Needs.Need;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.Glance;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.Topology;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.Reason;
import io.vgpu.model.Use;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pod of one vGPU container fits on a node, without a plan: the allocator's verdict and
 * primary reason (a property test holds them together), at a hundredth of the cost. One pod, one
 * thread.
 */
final class QuickFit {
  private static final Reason[] REASONS = Reason.values();

  private final PodRequest pod;
  private final long number;
  private final boolean lists;
  private final boolean strict;
  private final int[] failed = new int[REASONS.length];
  private final Map<String, Boolean> types = new HashMap<>();
  private final Map<Kind, Needs> needs = new HashMap<>();
  private @Nullable Needs last;
  private boolean[] passed = new boolean[16];

  /** What a node adds to what a pod needs. */
  private record Kind(int factor, long uniform) {}

  private QuickFit(PodRequest pod, long number) {
    this.pod = pod;
    this.number = number;
    TopologyMode mode = pod.wishes().topology();
    this.strict = mode == TopologyMode.NUMA_STRICT || mode == TopologyMode.LINK_STRICT;
    this.lists = !pod.wishes().types().isEmpty() || !pod.wishes().uuids().isEmpty();
  }

  /**
   * For a pod that can be judged like that; more containers, or siblings to be near, take the long
   * way.
   */
  static Optional<QuickFit> of(PodRequest pod, Alignment alignment) {
    var containers = pod.demand().vgpuContainers();
    return !alignment.equals(Alignment.NONE)
            || containers.size() != 1
            || DemandCheck.firstBreach(pod.demand()).isPresent()
        ? Optional.empty()
        : Optional.of(new QuickFit(pod, containers.getFirst().number()));
  }

  /** Why the pod does not fit on the node as it stands for it; null where it fits. */
  @Nullable Refused refusal(NodeView node, long nowNanos) {
    return refusal(node, node.sumsFor(pod.pod().uid(), nowNanos));
  }

  /** The same of a node with these sums. */
  @Nullable Refused refusal(NodeView node, CardSums sums) {
    if (!sums.offered() || pod.wishes().memory() != MemoryPolicy.ANY) {
      switch (node.offer()) {
        case NodeOffer.NotOffered no -> {
          return Refused.bare(no.reason());
        }
        case NodeOffer.Offered offered -> {
          if (!pod.wishes().memory().accepts(offered.config().memoryScaling())) {
            return Refused.bare(Reason.NODE_MEMORY_TYPE_MISMATCH);
          }
        }
      }
    }
    Needs all = needs(sums);
    Reason gated = gate(sums, all.max(), all.total());
    return gated != null ? Refused.bare(gated) : cards(node, sums, all);
  }

  /** Puts a glance before a node that the pod fits on; the score is the policy's to say. */
  void look(Glance glance, NodeView node, CardSums sums) {
    Need need = needs(sums).containers().getFirst();
    glance.start(
        sums,
        (int) number,
        need.cores(),
        need.memory(),
        Room.bounded(sums.cpuLeft()),
        Room.bounded(sums.cpuLeft() - pod.host().cpuMilli()));
    int share = 0;
    int of = -1;
    for (int at = 0; at < sums.size(); at++) {
      if (able(node, at, sums, need)) {
        if (of < 0 || !sums.alike(of, at)) {
          long memory = need.memory() == 0 ? sums.memory(at) : need.memory();
          share = sums.share(at, need.cores(), memory);
          of = at;
        }
        glance.able(at, share);
      }
    }
  }

  /** What the pod needs of the node in all. */
  Use total(CardSums sums) {
    return needs(sums).total();
  }

  /** Depends on the node by two numbers only, and neighbours in a list are mostly alike. */
  private Needs needs(CardSums sums) {
    int factor = sums.memoryFactor();
    long uniform = sums.uniformMemory();
    Needs known = last;
    if (known == null || !known.isFor(factor, uniform)) {
      known =
          needs.computeIfAbsent(
              new Kind(factor, uniform), kind -> Needs.of(pod.demand(), factor, uniform));
      last = known;
    }
    return known;
  }

  private static @Nullable Reason gate(CardSums sums, Use max, Use all) {
    if (max.slots() > sums.schedulable()) {
      return Candidates.tooFew(max.slots(), sums.schedulable(), sums.cordoned());
    }
    if (max.cores() > sums.mostCores()) {
      return Reason.INSUFFICIENT_VGPU_CORE;
    }
    if (max.memory() > sums.mostMemory()) {
      return Reason.INSUFFICIENT_VGPU_MEMORY;
    }
    if (all.slots() > sums.freeSlots()) {
      return Reason.INSUFFICIENT_GPU_RESOURCES;
    }
    if (all.cores() > sums.freeCores()) {
      return Reason.INSUFFICIENT_VGPU_CORE;
    }
    return all.memory() > sums.freeMemory() ? Reason.INSUFFICIENT_VGPU_MEMORY : null;
  }

  private @Nullable Refused cards(NodeView node, CardSums sums, Needs all) {
    if (lists && named(devices(node)) < all.max().slots()) {
      return Refused.bare(
          pod.wishes().uuids().isEmpty()
              ? Reason.DEVICE_TYPE_MISMATCH
              : Reason.DEVICE_UUID_MISMATCH);
    }
    Need need = all.containers().getFirst();
    int size = sums.size();
    int able = 0;
    boolean[] passes = passes(size);
    for (int at = 0; at < size; at++) {
      passes[at] = able(node, at, sums, need);
      able += passes[at] ? 1 : 0;
      if (able >= number && !strict) {
        return null;
      }
    }
    if (able < number) {
      return Refused.bare(mostFrequent(devices(node), sums, need));
    }
    return node.offer() instanceof NodeOffer.Offered offered
        ? Topology.strictRefusal(pod.wishes().topology(), offered, sums, passes, (int) number)
            .map(no -> Refused.of(no.reason(), no.detail()))
            .orElse(null)
        : null;
  }

  private static List<GpuDevice> devices(NodeView node) {
    return node.offer() instanceof NodeOffer.Offered offered ? offered.devices() : List.of();
  }

  /** Used again: room for as many cards. */
  private boolean[] passes(int cards) {
    if (passed.length < cards) {
      passed = new boolean[cards];
    }
    return passed;
  }

  private boolean able(NodeView node, int at, CardSums sums, Need need) {
    return sums.takes(at, need.cores(), need.memory()) && (!lists || wished(node, at));
  }

  private boolean wished(NodeView node, int at) {
    GpuDevice device = devices(node).get(at);
    return type(device) && pod.wishes().uuids().accepts(device.uuid().value());
  }

  /** The tests of one card in the order of control-plane.md 3.10. */
  private @Nullable Reason failure(GpuDevice device, int at, CardSums sums, Need need) {
    if (!device.healthy()) {
      return Reason.DEVICE_UNHEALTHY;
    }
    if (device.mig()) {
      return Reason.DEVICE_MIG_ENABLED;
    }
    if (device.cordoned()) {
      return Reason.DEVICE_CORDONED;
    }
    if (!sums.slotLeft(at)) {
      return Reason.INSUFFICIENT_VGPU_SLOT;
    }
    if (!sums.memoryLeft(at, need.memory())) {
      return Reason.INSUFFICIENT_VGPU_MEMORY;
    }
    if (!sums.coresLeft(at, need.cores())) {
      return Reason.INSUFFICIENT_VGPU_CORE;
    }
    if (lists && !type(device)) {
      return Reason.DEVICE_TYPE_MISMATCH;
    }
    return lists && !pod.wishes().uuids().accepts(device.uuid().value())
        ? Reason.DEVICE_UUID_MISMATCH
        : null;
  }

  private boolean type(GpuDevice device) {
    return types.computeIfAbsent(device.type(), pod.wishes().types()::accepts);
  }

  private long named(List<GpuDevice> devices) {
    long named = 0;
    for (GpuDevice d : devices) {
      named += type(d) && pod.wishes().uuids().accepts(d.uuid().value()) ? 1 : 0;
    }
    return named;
  }

  /** Of equals the first by code. */
  private Reason mostFrequent(List<GpuDevice> devices, CardSums sums, Need need) {
    java.util.Arrays.fill(failed, 0);
    Reason most = Reason.INSUFFICIENT_GPU_RESOURCES;
    for (int at = 0; at < devices.size(); at++) {
      Reason why = failure(devices.get(at), at, sums, need);
      if (why != null) {
        int count = ++failed[why.ordinal()];
        int best = failed[most.ordinal()];
        if (count > best || (count == best && why.code().compareTo(most.code()) < 0)) {
          most = why;
        }
      }
    }
    return most;
  }
}
