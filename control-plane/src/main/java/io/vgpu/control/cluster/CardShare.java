package io.vgpu.control.cluster;

import io.vgpu.model.Use;

/** What a use of a card is of the whole, in thousandths: both cores and memory are hard limits. */
public final class CardShare {
  /** One whole card. */
  public static final int WHOLE = 1000;

  private CardShare() {}

  /** The share of a card that is left; none where every slot is taken. */
  public static int left(Use total, Use used) {
    return used.slots() >= total.slots()
        ? 0
        : left(total.cores(), total.memory(), used.cores(), used.memory());
  }

  /** The share of an empty card that a use of it takes. */
  public static int taken(Use total, Use use) {
    return WHOLE - left(total.cores(), total.memory(), use.cores(), use.memory());
  }

  /** The same in plain numbers, slots not looked at. */
  static int left(long cores, long memory, long usedCores, long usedMemory) {
    return Math.min(part(cores - usedCores, cores), part(memory - usedMemory, memory));
  }

  private static int part(long left, long total) {
    return total <= 0 || left <= 0 ? 0 : (int) (left * WHOLE / total);
  }
}
