package io.vgpu.agent.memory;

import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.UsageCopy;
import java.nio.ByteBuffer;

/**
 * What the slots of a container say of one card, as far as contexts are measured by it. All of it
 * is the container's own to write: sums of it cannot overflow, and concern nobody else.
 *
 * @param epoch of the file: another one begins from nothing
 * @param contexts processes that have one
 * @param charged bytes that processes were given
 * @param managed pages that may lie anywhere
 */
record SlotSum(long epoch, int contexts, long charged, long managed) {
  static final long ABSURD = 1L << 48; // bytes; as the library has it

  /** Of a copy that was just refreshed. */
  static SlotSum of(UsageCopy usage, int device) {
    ByteBuffer slots = usage.slots();
    int contexts = 0;
    long charged = 0;
    long managed = 0;
    for (int k = 0; k < usage.slotCount(); k++) {
      int slot = k * Abi.SLOT_BYTES;
      int state = slots.getInt(slot + Abi.UsageSlot.STATE);
      if (state == Abi.SLOT_FREE || state == Abi.SLOT_SUSPENDED) {
        continue;
      }
      int word = device * Integer.BYTES;
      if (slots.getInt(slot + Abi.UsageSlot.OVERHEAD_PAGES + word) != 0) {
        contexts++;
      }
      managed += Integer.toUnsignedLong(slots.getInt(slot + Abi.UsageSlot.MANAGED_PAGES + word));
      charged +=
          Math.clamp(slots.getLong(slot + Abi.UsageSlot.BYTES + device * Long.BYTES), 0, ABSURD);
    }
    return new SlotSum(usage.writerEpoch(), contexts, charged, managed);
  }

  /** Whether it says anything against the driver's figure: managed memory is in both or not. */
  boolean comparable() {
    return contexts > 0 && managed == 0;
  }
}
