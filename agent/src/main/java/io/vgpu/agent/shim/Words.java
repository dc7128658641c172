package io.vgpu.agent.shim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Plain little-endian fields of a region. */
final class Words {
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Words() {}

  static int u16(MemorySegment s, long at) {
    return Short.toUnsignedInt(s.get(U16, at));
  }

  static int u32(MemorySegment s, long at) {
    return s.get(U32, at);
  }

  static long u64(MemorySegment s, long at) {
    return s.get(U64, at);
  }

  static void u16(MemorySegment s, long at, int value) {
    s.set(U16, at, (short) value);
  }

  static void u32(MemorySegment s, long at, int value) {
    s.set(U32, at, value);
  }

  static void u64(MemorySegment s, long at, long value) {
    s.set(U64, at, value);
  }

  /** ASCII text up to the first NUL within {@code bytes}. */
  static String text(MemorySegment s, long at, int bytes) {
    byte[] raw = s.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE);
    int end = 0;
    while (end < raw.length && raw[end] != 0) {
      end++;
    }
    return new String(raw, 0, end, StandardCharsets.US_ASCII);
  }

  /** ASCII text, filled up with NULs to {@code bytes}; it must be shorter than that. */
  static void text(MemorySegment s, long at, int bytes, String value) {
    byte[] raw = value.getBytes(StandardCharsets.US_ASCII);
    MemorySegment field = s.asSlice(at, bytes);
    field.fill((byte) 0);
    MemorySegment.copy(raw, 0, field, ValueLayout.JAVA_BYTE, 0, Math.min(raw.length, bytes - 1));
  }
}
