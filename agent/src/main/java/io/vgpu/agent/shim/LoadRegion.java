package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * {@code load} of one container (abi.h): what it may know of its cards, its own refunds and how
 * many others are active. Always there, whatever the gates (D9). Bound to the thread of its
 * segment's arena.
 */
final class LoadRegion {
  private final MemorySegment segment;

  /** Views a segment of {@link Abi#LOAD_BYTES}. */
  LoadRegion(MemorySegment segment) {
    check(
        segment.byteSize() == Abi.LOAD_BYTES,
        "load of %d bytes: must have %d",
        segment.byteSize(),
        Abi.LOAD_BYTES);
    this.segment = segment;
  }

  /** Makes a zeroed segment a region: all figures zero, magic last. */
  void format(int deviceCount, long writerEpoch, long bootIdHash) {
    Region.LOAD.writeHeader(segment, new Region.Header(deviceCount, writerEpoch, bootIdHash));
    Region.LOAD.publish(segment);
  }

  /** The header, if this is a region. */
  Optional<Region.Header> header() {
    return Region.LOAD.readHeader(segment);
  }

  /** Says that this agent process owns the file now. */
  void takeOver(long writerEpoch) {
    Region.takeOver(segment, writerEpoch);
  }

  /** Replaces one card's figures in place. */
  void update(int index, DeviceLoad load) {
    long at = at(index);
    Seqlock.write(
        segment,
        at + Abi.LoadDevice.SEQ,
        () -> {
          Words.u32(segment, at + Abi.LoadDevice.DEVICE_UTIL_PERMILLE, load.deviceUtilPermille());
          Words.u32(
              segment, at + Abi.LoadDevice.CONTAINER_UTIL_PERMILLE, load.containerUtilPermille());
          Words.u32(segment, at + Abi.LoadDevice.OTHERS_ACTIVE, load.othersActive());
          Words.u64(segment, at + Abi.LoadDevice.SAMPLE_NS, load.sampleNs());
          DriverMemory memory = load.memory();
          Words.u64(segment, at + Abi.LoadDevice.CONTEXT_BYTES, memory.contextBytes());
          Words.u64(segment, at + Abi.LoadDevice.CONTAINER_NVML_BYTES, memory.listedBytes());
          Words.u32(segment, at + Abi.LoadDevice.CONTEXT_SAMPLE, memory.contextSample());
          Words.u64(segment, at + Abi.LoadDevice.REFUND_NS, load.refundNs());
          Words.u32(segment, at + Abi.LoadDevice.TURN_PERIOD_US, load.turnPeriodUs());
          Words.u32(segment, at + Abi.LoadDevice.TURN_OFFSET_US, load.turnOffsetUs());
          Words.u32(segment, at + Abi.LoadDevice.TURN_LENGTH_US, load.turnLengthUs());
        });
  }

  /** One card's figures, or empty when no untorn copy could be had. */
  Optional<DeviceLoad> read(int index) {
    long at = at(index);
    return Seqlock.read(
        segment,
        at + Abi.LoadDevice.SEQ,
        () ->
            new DeviceLoad(
                Words.u32(segment, at + Abi.LoadDevice.DEVICE_UTIL_PERMILLE),
                Words.u32(segment, at + Abi.LoadDevice.CONTAINER_UTIL_PERMILLE),
                Words.u32(segment, at + Abi.LoadDevice.OTHERS_ACTIVE),
                Words.u64(segment, at + Abi.LoadDevice.SAMPLE_NS),
                new DriverMemory(
                    Words.u64(segment, at + Abi.LoadDevice.CONTAINER_NVML_BYTES),
                    Words.u64(segment, at + Abi.LoadDevice.CONTEXT_BYTES),
                    Words.u32(segment, at + Abi.LoadDevice.CONTEXT_SAMPLE)),
                Words.u64(segment, at + Abi.LoadDevice.REFUND_NS),
                Words.u32(segment, at + Abi.LoadDevice.TURN_PERIOD_US),
                Words.u32(segment, at + Abi.LoadDevice.TURN_OFFSET_US),
                Words.u32(segment, at + Abi.LoadDevice.TURN_LENGTH_US)));
  }

  private static long at(int index) {
    return Abi.Load.DEVICES + (long) Abi.LOAD_STRIDE * index;
  }
}
