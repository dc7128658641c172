package io.vgpu.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for critical errors of the cards (node-agent.md 2.5). One thread at a time. */
final class NvmlEvents {
  private static final Logger log = LoggerFactory.getLogger(NvmlEvents.class);
  private static final long WATCHED =
      NvmlStructs.EVENT_XID | NvmlStructs.EVENT_DOUBLE_BIT_ECC | NvmlStructs.EVENT_SINGLE_BIT_ECC;

  private final NvmlLibrary nvml;
  private final Pointer set;
  private final Map<GpuUuid, PhysicalGpu> cards = new HashMap<>();
  private final Deque<HealthEvent> refused = new ArrayDeque<>();

  /** Registers every card; one that cannot be watched is told by the next {@link #await}. */
  NvmlEvents(NvmlLibrary nvml, List<NvmlCards.Found> found) {
    this.nvml = nvml;
    this.set = nvml.handle(NvmlCall.EVENT_SET_CREATE);
    for (NvmlCards.Found card : found) {
      cards.put(card.gpu().uuid(), card.gpu());
      register(card);
    }
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
      refused.add(
          new HealthEvent.NotWatchable(
              card.gpu().uuid(),
              String.valueOf(nvml.failure(NvmlCall.REGISTER_EVENTS, code).getMessage())));
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
      throw nvml.failure(NvmlCall.EVENT_SET_WAIT, code);
    }
    if (event.getLong(NvmlStructs.EVENT_TYPE) != NvmlStructs.EVENT_XID) {
      return Optional.empty(); // ECC errors by themselves do not speak against a card
    }
    return Optional.of(
        new HealthEvent.Xid(device(event), (int) event.getLong(NvmlStructs.EVENT_DATA)));
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
