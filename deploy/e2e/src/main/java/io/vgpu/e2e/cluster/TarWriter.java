package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes a tar archive (ustar, GNU long names) with owner root and time zero: the same content
 * gives the same bytes. Just what an image layer needs.
 */
final class TarWriter implements AutoCloseable {
  private static final int BLOCK = 512;

  private final OutputStream out;

  TarWriter(OutputStream out) {
    this.out = out;
  }

  void directory(String name, int mode) throws IOException {
    header(name + "/", mode, 0, '5', "");
  }

  void symlink(String name, String target) throws IOException {
    header(name, 0777, 0, '2', target);
  }

  void file(String name, int mode, byte[] content) throws IOException {
    header(name, mode, content.length, '0', "");
    out.write(content);
    pad(content.length);
  }

  @Override
  public void close() throws IOException {
    out.write(new byte[2 * BLOCK]);
    out.close();
  }

  private void header(String name, int mode, long size, char type, String link) throws IOException {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 100) {
      byte[] longName = (name + "\0").getBytes(StandardCharsets.UTF_8);
      header("././@LongLink", 0644, longName.length, 'L', "");
      out.write(longName);
      pad(longName.length);
    }
    if (link.length() > 100) {
      throw new IOException("link target too long for this writer: " + link);
    }
    byte[] block = new byte[BLOCK];
    System.arraycopy(bytes, 0, block, 0, Math.min(bytes.length, 100));
    octal(block, 100, 8, mode);
    octal(block, 108, 8, 0);
    octal(block, 116, 8, 0);
    octal(block, 124, 12, size);
    octal(block, 136, 12, 0);
    block[156] = (byte) type;
    text(block, 157, link);
    text(block, 257, "ustar\00000");
    // the checksum counts its own field as blanks
    text(block, 148, "        ");
    int sum = 0;
    for (byte b : block) {
      sum += b & 0xff;
    }
    octal(block, 148, 7, sum);
    out.write(block);
  }

  private void pad(long size) throws IOException {
    int rest = (int) (size % BLOCK);
    if (rest != 0) {
      out.write(new byte[BLOCK - rest]);
    }
  }

  /** Octal digits, zero-padded, ended by NUL. */
  private static void octal(byte[] block, int at, int width, long value) throws IOException {
    String digits = Long.toOctalString(value);
    if (digits.length() > width - 1) {
      throw new IOException("value " + value + " does not fit in a tar header");
    }
    text(block, at, "0".repeat(width - 1 - digits.length()) + digits + "\0");
  }

  private static void text(byte[] block, int at, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }
}
