package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.NodeLoad;
import io.vgpu.model.Reason;
import io.vgpu.model.Use;
import java.util.List;
import java.util.Optional;

/**
 * A node's cards as they stand for one pod, with the sums that its capacity gate and its score are
 * made of (control-plane.md 3.5, 3.6). Pure.
 *
 * @param total over schedulable cards (healthy, no MIG, not cordoned), like all sums here
 * @param free Σ of what each card has left, never below zero a card
 */
record Candidates(List<NodeView.Card> cards, int schedulable, Use total, Use free, Use largest) {

  static Candidates of(List<NodeView.Card> cards) {
    int schedulable = 0;
    Use total = Use.ZERO;
    Use free = Use.ZERO;
    Use largest = Use.ZERO;
    for (NodeView.Card c : cards) {
      if (c.device().schedulable()) {
        schedulable++;
        total = total.plus(c.total());
        free = free.plus(c.free());
        largest = largest.max(c.total());
      }
    }
    return new Candidates(cards, schedulable, total, free, largest);
  }

  /** The memory that all schedulable cards have, 0 where they differ (2.1, rule 3). */
  long uniformMemory() {
    for (NodeView.Card c : cards) {
      if (c.device().schedulable() && c.total().memory() != largest.memory()) {
        return 0;
      }
    }
    return largest.memory();
  }

  /** What the node's score is made of. */
  NodeLoad load(Needs needs) {
    return new NodeLoad(total, total.minus(free), needs.total());
  }

  /** The necessary conditions that spare the allocator its work; the first failure wins. */
  Optional<Refused> gate(PodRequest pod, Needs needs) {
    Use max = needs.max();
    Use all = needs.total();
    if (max.slots() > schedulable) {
      int cordoned = (int) cards.stream().filter(c -> c.device().cordoned()).count();
      return refused(
          tooFew(max.slots(), schedulable, cordoned),
          "max "
              + max.slots()
              + " devices, node has "
              + schedulable
              + " schedulable"
              + (cordoned == 0 ? "" : ", " + cordoned + " cordoned"));
    }
    if (max.cores() > largest.cores()) {
      return refused(
          Reason.INSUFFICIENT_VGPU_CORE,
          "max " + max.cores() + " cores, largest device has " + largest.cores());
    }
    if (max.memory() > largest.memory()) {
      return refused(
          Reason.INSUFFICIENT_VGPU_MEMORY,
          "max " + max.memory() + " memory, largest device has " + largest.memory());
    }
    if (all.slots() > free.slots()) {
      return refused(
          Reason.INSUFFICIENT_GPU_RESOURCES,
          "need " + all.slots() + " number, available " + free.slots());
    }
    if (all.cores() > free.cores()) {
      return refused(
          Reason.INSUFFICIENT_VGPU_CORE,
          "need " + all.cores() + " cores, available " + free.cores());
    }
    if (all.memory() > free.memory()) {
      return refused(
          Reason.INSUFFICIENT_VGPU_MEMORY,
          "need " + all.memory() + " memory, available " + free.memory());
    }
    return names(pod, max.slots());
  }

  /** Whether it is the cordons that leave too few cards. */
  static Reason tooFew(long wanted, int schedulable, int cordoned) {
    return wanted <= (long) schedulable + cordoned
        ? Reason.DEVICE_CORDONED
        : Reason.INSUFFICIENT_GPU_CARDS;
  }

  private Optional<Refused> names(PodRequest pod, long needed) {
    var types = pod.wishes().types();
    var uuids = pod.wishes().uuids();
    if (types.isEmpty() && uuids.isEmpty()) {
      return Optional.empty();
    }
    long matching =
        cards.stream()
            .filter(c -> types.accepts(c.device().type()))
            .filter(c -> uuids.accepts(c.device().uuid().value()))
            .count();
    return matching >= needed
        ? Optional.empty()
        : refused(
            uuids.isEmpty() ? Reason.DEVICE_TYPE_MISMATCH : Reason.DEVICE_UUID_MISMATCH,
            "only "
                + matching
                + " of "
                + needed
                + " required devices match the pod's include and exclude lists");
  }

  private static Optional<Refused> refused(Reason reason, String detail) {
    return Optional.of(Refused.of(reason, detail));
  }
}
