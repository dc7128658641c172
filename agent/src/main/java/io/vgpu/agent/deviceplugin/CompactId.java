package io.vgpu.agent.deviceplugin;

import static io.vgpu.model.Checks.check;

import java.util.Arrays;
import java.util.Base64;

/**
 * Device ids of {@code vgpu-cores} and {@code vgpu-memory}: {@code (n << 8) | gpuIndex} as a
 * protobuf varint, base64url without padding (node-agent.md 2.4). A node lists one for each percent
 * and each unit of memory, and all of them must fit into one message. Pure.
 */
final class CompactId {
  static final int MAX_GPU_INDEX = 255;
  private static final int VARINT_BITS = 7;
  private static final int MAX_VARINT_BYTES = 10;
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private CompactId() {}

  static String of(int gpuIndex, long n) {
    long rest = value(gpuIndex, n);
    byte[] varint = new byte[MAX_VARINT_BYTES];
    int used = 0;
    do {
      long low = rest & 0x7F;
      rest >>>= VARINT_BITS;
      varint[used++] = (byte) (rest == 0 ? low : low | 0x80);
    } while (rest != 0);
    return TEXT.encodeToString(Arrays.copyOf(varint, used));
  }

  /** How long the text of an id is, without making it. */
  static int length(int gpuIndex, long n) {
    int bits = Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(value(gpuIndex, n)));
    int bytes = (bits + VARINT_BITS - 1) / VARINT_BITS;
    return (bytes * 8 + 5) / 6;
  }

  private static long value(int gpuIndex, long n) {
    check(gpuIndex >= 0 && gpuIndex <= MAX_GPU_INDEX, "gpu index %s: must be 0 to 255", gpuIndex);
    check(n >= 0 && n < 1L << 48, "unit %s: must be 0 to 2^48 - 1", n);
    return n << 8 | gpuIndex;
  }
}
