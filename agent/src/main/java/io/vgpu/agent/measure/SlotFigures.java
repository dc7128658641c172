package io.vgpu.agent.measure;

import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;

/**
 * What the slots of a container say of one card. All of it is the container's own to write: each
 * value is bounded before it is added, so that no sum overflows or falls below zero.
 *
 * @param usedBytes given, with what contexts take
 * @param virtualBytes managed memory
 * @param processes with a context
 */
record SlotFigures(long usedBytes, long virtualBytes, int processes) {
  static final long ABSURD = 1L << 48; // bytes; as the library has it

  /** {@code slots}: {@code count} slots, little-endian. */
  static SlotFigures of(ByteBuffer slots, int count, int device) {
    long used = 0;
    long managed = 0;
    int processes = 0;
    int word = device * Integer.BYTES;
    for (int k = 0; k < count; k++) {
      int slot = k * Abi.SLOT_BYTES;
      if (!counts(slots.getInt(slot + Abi.UsageSlot.STATE))) {
        continue;
      }
      long overhead =
          Integer.toUnsignedLong(slots.getInt(slot + Abi.UsageSlot.OVERHEAD_PAGES + word));
      long bytes = slots.getLong(slot + Abi.UsageSlot.BYTES + device * Long.BYTES);
      used += (bytes < 0 || bytes > ABSURD ? 0 : bytes) + overhead * Abi.PAGE_BYTES;
      managed +=
          Integer.toUnsignedLong(slots.getInt(slot + Abi.UsageSlot.MANAGED_PAGES + word))
              * Abi.PAGE_BYTES;
      processes += overhead == 0 ? 0 : 1;
    }
    return new SlotFigures(used, managed, processes);
  }

  /** The states whose memory the library counts: an unknown one is none. */
  private static boolean counts(int state) {
    return state == Abi.SLOT_CLAIMING || state == Abi.SLOT_LIVE || state == Abi.SLOT_REAPING;
  }
}
