package io.vgpu.agent.memory;

import io.vgpu.agent.shim.Abi;
import java.util.Arrays;
import java.util.OptionalLong;

/**
 * The last figures of what a process takes beside its charges; the middle one counts, so that one
 * taken while memory was on its way changes nothing. Begins anew when processes come or go.
 */
final class ContextWindow {
  private final long[] figures = new long[Abi.CONTEXT_SAMPLES];
  private int taken;
  private int contexts;
  private long epoch;

  /** One figure more; what counts then, if there are enough. */
  OptionalLong add(SlotSum slots, long listedBytes) {
    if (slots.contexts() != contexts || slots.epoch() != epoch) {
      contexts = slots.contexts();
      epoch = slots.epoch();
      taken = 0;
    }
    figures[taken++ % figures.length] = Math.max(0, listedBytes - slots.charged()) / contexts;
    if (taken < figures.length) {
      return OptionalLong.empty();
    }
    taken = figures.length + taken % figures.length; // stays small, and where it is
    long[] sorted = figures.clone();
    Arrays.sort(sorted);
    return OptionalLong.of(sorted[sorted.length / 2]);
  }
}
