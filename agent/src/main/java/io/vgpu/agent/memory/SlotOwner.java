package io.vgpu.agent.memory;

import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.UsageCopy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whether a container's own {@code usage} has a process in it. The container writes that, so it
 * tells containers of one pod apart and nothing more. Lane {@code regions}.
 */
public final class SlotOwner {
  private SlotOwner() {}

  /** Whether a live slot is this process's, as the process itself knows its pid. */
  public static boolean is(OpenContainer container, int slot, int innerPid, long startTime) {
    ByteBuffer copy = ByteBuffer.allocate(Abi.SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try {
      return container.usage().readSlot(slot, copy) && matches(copy, 0, innerPid, startTime);
    } catch (IOException e) {
      return false; // the refund round says why
    }
  }

  /** Whether any slot of a copy that was just refreshed is this process's. */
  static boolean isAmong(UsageCopy usage, int innerPid, long startTime) {
    for (int k = 0; k < usage.slotCount(); k++) {
      if (matches(usage.slots(), k * Abi.SLOT_BYTES, innerPid, startTime)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(ByteBuffer slots, int at, int innerPid, long startTime) {
    return slots.getInt(at + Abi.UsageSlot.STATE) == Abi.SLOT_LIVE
        && slots.getInt(at + Abi.UsageSlot.PID) == innerPid
        && slots.getLong(at + Abi.UsageSlot.START_TIME) == startTime;
  }
}
