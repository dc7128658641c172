package io.vgpu.agent.refund;

/** Why an interval in a container's ring counts for nothing; in the order of {@code refund.h}. */
public enum RefundDrop {
  /** The ring's head went back, or on by more than the ring holds. */
  HEAD,
  /** Of no card of the container. */
  DEVICE,
  /** Nothing, or longer than can be. */
  LENGTH,
  /** Ends after now. */
  FUTURE,
  /** Ended before the window. */
  OLD,
  /** Begins before the one before it ended. */
  ORDER,
  /** The container was not charged for it. */
  UNPAID,
  /** The container may not have so much. */
  BEYOND,
  /** Overtaken by newer ones before it was settled. */
  LATE
}
