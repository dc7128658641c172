package io.vgpu.control.cluster;

/**
 * Cards that a pod takes before the watch shows it bound: for certain, once its Binding is on the
 * way, or softly, between prioritize and bind (D1).
 *
 * @param soft counts for other pods only until {@code untilNanos}; a commit counts until settled
 */
public record InFlight(String podUid, Footprint footprint, boolean soft, long untilNanos) {
  /** Whether another pod, planned now, has to respect it. */
  boolean countsFor(String uid, long nowNanos, boolean respectHolds) {
    return !podUid.equals(uid) && (!soft || (respectHolds && untilNanos - nowNanos > 0));
  }
}
