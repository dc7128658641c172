package io.vgpu.agent.measure;

import io.vgpu.agent.shim.Abi;
import java.util.Arrays;

/**
 * A container's time on a card as a sum that never falls, from what the container itself writes
 * (D8): charged less refunds. It may write anything, so the sum is at most the time since it is
 * known, and what falls or leaps is dropped. One thread at a time.
 */
final class GpuTime {
  /** Why a step was not believed. */
  enum Doubt {
    NONE,
    /** It charged less than before, without a reset. */
    BACK,
    /** It charged more in a step than any device could have worked. */
    ABSURD
  }

  private static final long LEAP_NS = 60_000_000_000L; // a slice of one minute; limits end at 10 s

  private boolean known;
  private long sinceNs;
  private long epoch;
  private long rawNs;
  private long refundNs;
  private long chargedNs;
  private long shownNs;

  /** One for each device that a container may have. */
  static GpuTime[] ofDevices() {
    GpuTime[] times = new GpuTime[Abi.MAX_DEVICES];
    Arrays.setAll(times, i -> new GpuTime());
    return times;
  }

  /** One look; {@code refundNs}: cumulative, the agent's own. */
  Doubt look(long nowNs, long newEpoch, long newRawNs, long newRefundNs) {
    if (!known || newEpoch != epoch) {
      sinceNs = known ? sinceNs : nowNs;
      rawNs = known ? 0 : newRawNs; // what was before us is not ours to judge; a reset is
      refundNs = newRefundNs;
      known = true;
      epoch = newEpoch;
    }
    long grown = newRawNs - rawNs;
    long refunded = newRefundNs - refundNs;
    rawNs = newRawNs;
    refundNs = newRefundNs;
    Doubt doubt = grown < 0 ? Doubt.BACK : grown > LEAP_NS ? Doubt.ABSURD : Doubt.NONE;
    chargedNs += (doubt == Doubt.NONE ? grown : 0) - Math.max(refunded, 0);
    chargedNs = Math.clamp(chargedNs, 0, nowNs - sinceNs);
    shownNs = Math.max(shownNs, chargedNs);
    return doubt;
  }

  /** The sum, as of the last look. */
  long ns() {
    return shownNs;
  }
}
