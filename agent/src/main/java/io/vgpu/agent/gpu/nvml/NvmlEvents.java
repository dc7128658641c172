package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for critical errors of the cards (node-agent.md 2.5). One thread at a time. */
final class NvmlEvents {
  private static final Logger log = LoggerFactory.getLogger(NvmlEvents.class);
  private static final long WATCHED =
      NvmlStructs.EVENT_XID | NvmlStructs.EVENT_DOUBLE_BIT_ECC | NvmlStructs.EVENT_SINGLE_BIT_ECC;

  private final NvmlLibrary nvml;
  private final List<NvmlCards.Found> found;
  private Pointer set;
  private final Map<GpuUuid, PhysicalGpu> cards = new HashMap<>();
  private final Set<GpuUuid> left = new HashSet<>(); // cards that no set holds
  private final Deque<HealthEvent> refused = new ArrayDeque<>();

  /** Registers every card; one that cannot be watched is told by the next {@link #await}. */
  NvmlEvents(NvmlLibrary nvml, List<NvmlCards.Found> found) {
    this.nvml = nvml;
    this.found = found;
    found.forEach(card -> cards.put(card.gpu().uuid(), card.gpu()));
    this.set = nvml.handle(NvmlCall.EVENT_SET_CREATE);
    found.forEach(this::register);
  }

  /**
   * A set with a lost card in it tells nothing of the others any more: from here on there is one
   * without it. Which card it was is told by registering it again.
   */
  private boolean leaveLostOut() {
    List<NvmlCards.Found> watched =
        found.stream().filter(c -> !left.contains(c.gpu().uuid())).toList();
    int before = left.size();
    nvml.code(NvmlCall.EVENT_SET_FREE, set);
    set = nvml.handle(NvmlCall.EVENT_SET_CREATE);
    watched.forEach(this::register);
    return left.size() > before;
  }

  private void register(NvmlCards.Found card) {
    LongByReference supported = new LongByReference();
    int code = nvml.code(NvmlCall.SUPPORTED_EVENTS, card.handle(), supported);
    if (code == NvmlLibrary.SUCCESS) {
      code =
          nvml.code(NvmlCall.REGISTER_EVENTS, card.handle(), supported.getValue() & WATCHED, set);
    }
    if (code == NvmlLibrary.NOT_SUPPORTED) {
      log.info("card has no events, its health is not watched [gpu: {}]", card.gpu().uuid());
    } else if (code != NvmlLibrary.SUCCESS) {
      GpuDriverException failure = nvml.failure(NvmlCall.REGISTER_EVENTS, code);
      left.add(card.gpu().uuid());
      refused.add(
          new HealthEvent.NotWatchable(
              card.gpu().uuid(), String.valueOf(failure.getMessage()), failure.isGpuLost()));
    }
  }

  Optional<HealthEvent> await(Duration timeout) {
    if (!refused.isEmpty()) {
      return Optional.of(refused.remove());
    }
    Memory event = NvmlLibrary.zeroed(NvmlStructs.EVENT_BYTES);
    int code = nvml.code(NvmlCall.EVENT_SET_WAIT, set, event, (int) timeout.toMillis());
    if (code == NvmlLibrary.TIMEOUT) {
      return Optional.empty();
    }
    if (code != NvmlLibrary.SUCCESS) {
      GpuDriverException failure = nvml.failure(NvmlCall.EVENT_SET_WAIT, code);
      if (failure.isGpuLost() && leaveLostOut()) {
        return Optional.of(refused.remove());
      }
      throw failure;
    }
    long type = event.getLong(NvmlStructs.EVENT_TYPE);
    if (type == NvmlStructs.EVENT_XID) {
      return Optional.of(
          new HealthEvent.Xid(device(event), (int) event.getLong(NvmlStructs.EVENT_DATA)));
    }
    return Optional.of(
        new HealthEvent.Ecc(device(event), type == NvmlStructs.EVENT_SINGLE_BIT_ECC));
  }

  /** The MIG slice of the event, else the card, else nothing when it cannot be named. */
  private Optional<GpuUuid> device(Memory event) {
    byte[] buffer = new byte[96];
    Pointer handle = event.getPointer(NvmlStructs.EVENT_DEVICE);
    if (handle == null
        || nvml.code(NvmlCall.UUID, handle, buffer, buffer.length) != NvmlLibrary.SUCCESS) {
      return Optional.empty();
    }
    GpuUuid uuid = new GpuUuid(Native.toString(buffer));
    int gpuInstance = event.getInt(NvmlStructs.EVENT_GPU_INSTANCE);
    int computeInstance = event.getInt(NvmlStructs.EVENT_COMPUTE_INSTANCE);
    PhysicalGpu card = cards.get(uuid);
    if (card == null || gpuInstance == NvmlStructs.NO_INSTANCE) {
      return Optional.of(uuid);
    }
    return Optional.of(
        card.migDevices().stream()
            .filter(m -> m.gpuInstance() == gpuInstance && m.computeInstance() == computeInstance)
            .map(MigDevice::uuid)
            .findFirst()
            .orElse(uuid));
  }

  void close() {
    nvml.code(NvmlCall.EVENT_SET_FREE, set);
  }
}
