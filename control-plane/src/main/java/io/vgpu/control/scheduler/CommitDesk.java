package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Reservation;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The part of a bind that must be serial: plan against the live state and reserve, then settle
 * (control-plane.md 4.1). Lane {@code scheduler} only.
 */
final class CommitDesk {
  /** The API server gives no request more than a minute; only then nothing can come after. */
  static final Duration UNCERTAIN = Duration.ofSeconds(90);

  /** How long the watch may take to show a bound pod before somebody asks. */
  static final Duration UNCONFIRMED = Duration.ofSeconds(60);

  private final ClusterState state;
  private final Allocator allocator;
  private final Alignments alignments;
  private final LongSupplier nanoTime;

  /** What the desk says. */
  sealed interface Step {
    /** Reserved: post this. {@code plan} is empty when an earlier one is used again. */
    record Post(Reservation reservation, Optional<Placement> plan) implements Step {}

    /** The watch knows that it is bound. */
    record Bound(String node) implements Step {}

    /** Another bind of the pod to this node is under way. */
    record Busy() implements Step {}

    /** It does not fit any more. */
    record NoFit(Refused refused) implements Step {}
  }

  CommitDesk(
      ClusterState state, Allocator allocator, Alignments alignments, LongSupplier nanoTime) {
    this.state = state;
    this.allocator = allocator;
    this.alignments = alignments;
    this.nanoTime = nanoTime;
  }

  /** Plans the pod on the node and takes the cards. */
  Step plan(PodRequest pod, String nodeName) {
    String uid = pod.pod().uid();
    Optional<String> bound = state.pod(uid).map(PodRecord::nodeName);
    if (bound.isPresent()) {
      return new Step.Bound(bound.get());
    }
    Optional<Reservation> earlier = state.reservation(uid, nodeName);
    if (earlier.isPresent()) {
      return again(earlier.get());
    }
    Optional<NodeView> node = state.node(nodeName);
    if (node.isEmpty()) {
      return new Step.NoFit(Refused.of(Reason.NODE_CACHE_MISS, nodeName));
    }
    Verdict verdict = plan(pod, node.get(), true);
    if (verdict instanceof Refused) {
      // a hold is a courtesy: it never costs a pod the node that kube-scheduler has chosen
      verdict = plan(pod, node.get(), false);
    }
    return switch (verdict) {
      case Refused refused -> new Step.NoFit(refused);
      case Verdict.Fits fits -> {
        Placement p = fits.placement();
        Reservation reservation =
            new Reservation(pod.pod(), nodeName, p.claim(), p.footprint(), false, after(UNCERTAIN));
        state.reserve(reservation);
        state.publish();
        yield new Step.Post(reservation, Optional.of(p));
      }
    };
  }

  private Verdict plan(PodRequest pod, NodeView node, boolean respectHolds) {
    return allocator.plan(
        pod,
        node.standing(pod.pod().uid(), nanoTime.getAsLong(), respectHolds),
        Look.DEEP,
        alignments.of(pod, state::node));
  }

  /** The earlier request may still be carried out: only the very same claim may follow it. */
  private Step again(Reservation earlier) {
    if (!earlier.uncertain()) {
      return new Step.Busy();
    }
    Reservation posted = with(earlier, false, UNCERTAIN);
    state.reserve(posted);
    return new Step.Post(posted, Optional.empty());
  }

  /**
   * What others have bound to a node, as the API server says, whether the watch has shown it or
   * not.
   */
  boolean learn(List<PodRecord> bound) {
    bound.forEach(pod -> state.heardOf(pod, after(UNCONFIRMED)));
    state.publish();
    return true;
  }

  /** The API server has it: the cards stay taken until the watch shows the pod bound. */
  boolean done(Reservation r) {
    return keep(with(r, false, UNCONFIRMED));
  }

  /** Nobody knows: the cards stay taken until the request can no longer be carried out. */
  boolean uncertain(Reservation r) {
    return keep(with(r, true, UNCERTAIN));
  }

  /** It did not happen and cannot any more. */
  boolean release(Reservation r) {
    state.release(r.pod().uid(), r.node());
    state.publish();
    return true;
  }

  private boolean keep(Reservation r) {
    // the watch may have been faster, and then it is settled
    boolean open = state.reservation(r.pod().uid(), r.node()).isPresent();
    if (open) {
      state.reserve(r);
      state.publish();
    }
    return open;
  }

  private Reservation with(Reservation r, boolean uncertain, Duration time) {
    return new Reservation(r.pod(), r.node(), r.claim(), r.footprint(), uncertain, after(time));
  }

  private long after(Duration time) {
    return nanoTime.getAsLong() + time.toNanos();
  }
}
