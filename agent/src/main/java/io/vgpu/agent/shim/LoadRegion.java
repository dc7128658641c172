package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * {@code load} of one container (abi.h): what it may know of its cards, its own refunds and how
 * many others are active. Always there, whatever the gates (D9). Bound to the thread of its
 * segment's arena.
 */
final class LoadRegion {
  private final MemorySegment segment;
  private final ByteBuffer fields; // the same bytes: cheaper to write many times a second

  /** Views a segment of {@link Abi#LOAD_BYTES}. */
  LoadRegion(MemorySegment segment) {
    check(
        segment.byteSize() == Abi.LOAD_BYTES,
        "load of %d bytes: must have %d",
        segment.byteSize(),
        Abi.LOAD_BYTES);
    this.segment = segment;
    this.fields = segment.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
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
    int at = (int) at(index);
    Seqlock.write(segment, at + Abi.LoadDevice.SEQ, () -> put(at, load));
  }

  private void put(int at, DeviceLoad load) {
    fields.putInt(at + Abi.LoadDevice.DEVICE_UTIL_PERMILLE, load.deviceUtilPermille());
    fields.putInt(at + Abi.LoadDevice.CONTAINER_UTIL_PERMILLE, load.containerUtilPermille());
    fields.putInt(at + Abi.LoadDevice.OTHERS_ACTIVE, load.othersActive());
    fields.putLong(at + Abi.LoadDevice.SAMPLE_NS, load.sampleNs());
    DriverMemory memory = load.memory();
    fields.putLong(at + Abi.LoadDevice.CONTEXT_BYTES, memory.contextBytes());
    fields.putLong(at + Abi.LoadDevice.CONTAINER_NVML_BYTES, memory.listedBytes());
    fields.putInt(at + Abi.LoadDevice.CONTEXT_SAMPLE, memory.contextSample());
    fields.putLong(at + Abi.LoadDevice.REFUND_NS, load.refundNs());
    fields.putInt(at + Abi.LoadDevice.TURN_PERIOD_US, load.turnPeriodUs());
    fields.putInt(at + Abi.LoadDevice.TURN_OFFSET_US, load.turnOffsetUs());
    fields.putInt(at + Abi.LoadDevice.TURN_LENGTH_US, load.turnLengthUs());
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
