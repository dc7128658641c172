package io.vgpu.agent.refund;

/** A container's stretch of every period, as in {@code load}; a length of 0 means no turns. */
public record Turn(int periodUs, int offsetUs, int lengthUs) {
  public static final Turn NONE = new Turn(0, 0, 0);

  /** Whether it runs at this time of the host, and has room for a slice. */
  boolean runs(long nowNs, long sliceUs) {
    return lengthUs != 0
        && Math.floorMod(nowNs / 1000 - offsetUs, (long) periodUs) + sliceUs < lengthUs;
  }
}
