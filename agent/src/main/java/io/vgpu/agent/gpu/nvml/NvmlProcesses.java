package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import io.vgpu.agent.gpu.GpuProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The driver's list of processes on a card: it grows while it is asked for. */
final class NvmlProcesses {
  private static final int FIRST_ROOM = 64;
  private static final int MAX_ROOM = 4096;
  private static final int TRIES = 4;

  private final NvmlLibrary nvml;

  NvmlProcesses(NvmlLibrary nvml) {
    this.nvml = nvml;
  }

  List<GpuProcess> on(Pointer device) {
    int room = FIRST_ROOM;
    for (int i = 0; i < TRIES; i++) {
      Memory list = NvmlLibrary.zeroed(room * NvmlStructs.PROCESS_BYTES);
      IntByReference count = new IntByReference(room);
      int code = nvml.code(NvmlCall.PROCESSES, device, count, list);
      if (code == NvmlLibrary.SUCCESS) {
        return read(list, Math.clamp(count.getValue(), 0, room));
      }
      if (code != NvmlLibrary.INSUFFICIENT_SIZE) {
        throw nvml.failure(NvmlCall.PROCESSES, code);
      }
      room =
          Math.min(MAX_ROOM, Math.max(count.getValue(), 2 * room)); // and some that came meanwhile
    }
    throw nvml.failure(NvmlCall.PROCESSES, NvmlLibrary.INSUFFICIENT_SIZE);
  }

  private static List<GpuProcess> read(Memory list, int count) {
    List<GpuProcess> processes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long at = (long) i * NvmlStructs.PROCESS_BYTES;
      long used = list.getLong(at + NvmlStructs.PROCESS_USED);
      processes.add(
          new GpuProcess(
              list.getInt(at + NvmlStructs.PROCESS_PID),
              // all ones: not available. No card has as much as the other negative numbers say
              used < 0 ? OptionalLong.empty() : OptionalLong.of(used)));
    }
    return List.copyOf(processes);
  }
}
