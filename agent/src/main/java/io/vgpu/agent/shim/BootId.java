package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells files of this boot from files of an earlier one: FNV-1a over the kernel's boot id (abi.h).
 */
final class BootId {
  private static final Path SOURCE = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int LENGTH = 36;

  private BootId() {}

  /** The hash of the running kernel's boot id. */
  static long current() throws IOException {
    return hash(Files.readString(SOURCE).strip());
  }

  /** FNV-1a, 64 bits, over the id's 36 characters. */
  static long hash(String bootId) throws IOException {
    if (bootId.length() != LENGTH) {
      throw new IOException(SOURCE + ": \"" + bootId + "\" must have " + LENGTH + " characters");
    }
    long hash = Abi.FNV_OFFSET;
    for (byte b : bootId.getBytes(StandardCharsets.US_ASCII)) {
      hash = (hash ^ (b & 0xff)) * Abi.FNV_PRIME;
    }
    return hash;
  }
}
