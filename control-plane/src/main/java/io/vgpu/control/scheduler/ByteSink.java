package io.vgpu.control.scheduler;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Collects the bytes of one answer; grows where the guess of its size was too low. One thread. */
final class ByteSink {
  private byte[] bytes;
  private int size;

  ByteSink(int guess) {
    this.bytes = new byte[Math.max(64, guess)];
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  ByteSink put(byte[] text) {
    return put(text, 0, text.length);
  }

  ByteSink put(byte[] text, int from, int to) {
    room(to - from);
    System.arraycopy(text, from, bytes, size, to - from);
    size += to - from;
    return this;
  }

  ByteSink put(char ascii) {
    room(1);
    bytes[size++] = (byte) ascii;
    return this;
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }

  /** Ends the writing: the array itself, and how much of it counts. */
  byte[] bytes() {
    return bytes;
  }

  int size() {
    return size;
  }
}
