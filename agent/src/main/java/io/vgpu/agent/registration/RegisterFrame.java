package io.vgpu.agent.registration;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * What a process says of itself (cuda-shim.md 8.9): hostile until compared with what the kernel
 * says.
 *
 * @param slot its slot in {@code usage}
 * @param pid in its own pid namespace
 */
record RegisterFrame(int slot, int pid, long startTime) {
  static final int BYTES = Abi.RegisterRequest.SIZEOF;

  RegisterFrame {
    check(slot >= 0 && slot < Abi.SLOTS, "slot %d: must be 0 to %d", slot, Abi.SLOTS - 1);
    check(pid > 0, "pid %d: must be positive", pid);
  }

  /** Of exactly {@link #BYTES} bytes; empty when they are no frame of a version we know. */
  static Optional<RegisterFrame> read(byte[] bytes) {
    if (bytes.length != BYTES) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int slot = in.getInt(Abi.RegisterRequest.SLOT);
    int pid = in.getInt(Abi.RegisterRequest.PID);
    boolean sound =
        in.getInt(Abi.RegisterRequest.MAGIC) == Abi.REGISTER_MAGIC
            && in.getShort(Abi.RegisterRequest.MAJOR) == Abi.ABI_MAJOR
            && slot >= 0
            && slot < Abi.SLOTS
            && pid > 0;
    return sound
        ? Optional.of(new RegisterFrame(slot, pid, in.getLong(Abi.RegisterRequest.START_TIME)))
        : Optional.empty();
  }

  /** The agent's answer. */
  static byte[] reply(boolean registered) {
    return ByteBuffer.allocate(Abi.RegisterReply.SIZEOF)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(Abi.RegisterReply.MAGIC, Abi.REGISTER_MAGIC)
        .putInt(Abi.RegisterReply.STATUS, registered ? Abi.REGISTER_OK : Abi.REGISTER_REFUSED)
        .array();
  }
}
