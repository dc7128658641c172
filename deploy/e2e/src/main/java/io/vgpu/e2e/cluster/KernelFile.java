package io.vgpu.e2e.cluster;

import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads files of the kernel's. Those of /proc/sys answer the first read only: a reader that begins
 * with a small buffer, as the JDK's {@code Files.readString} does for a file of size zero, gets "1"
 * where "10" stands.
 */
final class KernelFile {
  private KernelFile() {}

  static String read(Path file) throws IOException {
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      byte[] buffer = new byte[64 * 1024];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        all.write(buffer, 0, n);
      }
      return all.toString(StandardCharsets.ISO_8859_1);
    }
  }
}
