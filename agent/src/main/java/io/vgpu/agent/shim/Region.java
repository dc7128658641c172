package io.vgpu.agent.shim;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The kinds of file with a header, and that header: written without its magic first, checked before
 * anything is believed.
 */
enum Region {
  LIMITS(Abi.LIMITS_FILE, Abi.LIMITS_MAGIC, Abi.LIMITS_BYTES, Abi.LIMITS_STRIDE),
  LOAD(Abi.LOAD_FILE, Abi.LOAD_MAGIC, Abi.LOAD_BYTES, Abi.LOAD_STRIDE),
  USAGE(Abi.USAGE_FILE, Abi.USAGE_MAGIC, Abi.USAGE_BYTES, Abi.USAGE_STRIDE);

  private static final VarHandle MAGIC = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle EPOCH = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final String fileName;
  private final int magic;
  private final int bytes;
  private final int stride;

  Region(String fileName, int magic, int bytes, int stride) {
    this.fileName = fileName;
    this.magic = magic;
    this.bytes = bytes;
    this.stride = stride;
  }

  String fileName() {
    return fileName;
  }

  int bytes() {
    return bytes;
  }

  /** What a sound header says beyond its constants. */
  record Header(int deviceCount, long writerEpoch, long bootIdHash) {}

  /** Fills in everything but the magic. */
  void writeHeader(MemorySegment s, Header header) {
    Words.u16(s, Abi.Header.MAJOR, Abi.ABI_MAJOR);
    Words.u16(s, Abi.Header.MINOR, Abi.ABI_MINOR);
    Words.u32(s, Abi.Header.HEADER_BYTES, Abi.HEADER_BYTES);
    Words.u32(s, Abi.Header.REGION_BYTES, bytes);
    Words.u32(s, Abi.Header.DEVICE_COUNT, header.deviceCount());
    Words.u32(s, Abi.Header.STRIDE, stride);
    Words.u64(s, Abi.Header.WRITER_EPOCH, header.writerEpoch());
    Words.u64(s, Abi.Header.BOOT_ID_HASH, header.bootIdHash());
    Words.u64(s, Abi.Header.MONOTONIC_OFFSET_NS, 0);
  }

  /** Stores the magic, last: from here on the region exists. */
  void publish(MemorySegment s) {
    MAGIC.setRelease(s, (long) Abi.Header.MAGIC, magic);
  }

  /** Says which agent process owns the region now. */
  static void takeOver(MemorySegment s, long writerEpoch) {
    EPOCH.setRelease(s, (long) Abi.Header.WRITER_EPOCH, writerEpoch);
  }

  /**
   * The header, or empty when it is not one of this kind and of our major version. {@code s} has at
   * least a header's bytes.
   */
  Optional<Header> readHeader(MemorySegment s) {
    boolean sound =
        (int) MAGIC.getAcquire(s, (long) Abi.Header.MAGIC) == magic
            && Words.u16(s, Abi.Header.MAJOR) == Abi.ABI_MAJOR
            && Words.u32(s, Abi.Header.HEADER_BYTES) == Abi.HEADER_BYTES
            && Words.u32(s, Abi.Header.REGION_BYTES) == bytes
            && Words.u32(s, Abi.Header.STRIDE) == stride
            && Words.u32(s, Abi.Header.DEVICE_COUNT) >= 0
            && Words.u32(s, Abi.Header.DEVICE_COUNT) <= Abi.MAX_DEVICES;
    return sound
        ? Optional.of(
            new Header(
                Words.u32(s, Abi.Header.DEVICE_COUNT),
                Words.u64(s, Abi.Header.WRITER_EPOCH),
                Words.u64(s, Abi.Header.BOOT_ID_HASH)))
        : Optional.empty();
  }
}
