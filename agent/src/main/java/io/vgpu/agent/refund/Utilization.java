package io.vgpu.agent.refund;

/**
 * How much of a card a container had lately: charged time less refunds, over about a second (D8).
 * The Java side of {@code util.c}. One thread at a time.
 */
public final class Utilization {
  private static final int SAMPLES = 11;
  private static final long STEP_NS = 100_000_000;

  private final long[] atNs = new long[SAMPLES];
  private final long[] chargedNs = new long[SAMPLES];
  private int count;

  /**
   * Adds a look and gives permille of the time since the oldest sample kept; 0 until there are two.
   */
  public int look(long nowNs, long rawBusyNs, long refundNs) {
    long charged = rawBusyNs - refundNs;
    // the last sample moves on until it is a step away from the one before it
    if (count >= 2 && nowNs - atNs[count - 2] < STEP_NS) {
      count--;
    } else if (count == SAMPLES) {
      System.arraycopy(atNs, 1, atNs, 0, SAMPLES - 1);
      System.arraycopy(chargedNs, 1, chargedNs, 0, SAMPLES - 1);
      count--;
    }
    atNs[count] = nowNs;
    chargedNs[count] = charged;
    count++;
    long passed = nowNs - atNs[0];
    long had = charged - chargedNs[0];
    if (passed <= 0 || had <= 0) {
      return 0;
    }
    return had >= passed ? 1000 : (int) (had / 1000 * 1000 / (passed / 1000 + 1));
  }
}
