package io.vgpu.agent.posix;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.lang.foreign.MemorySegment;

/**
 * Wakes processes that sleep on a word of memory shared with them, which the JDK cannot (D23).
 * Never blocks; any thread that may use the segment.
 */
public final class Futex {
  private static final int WAKE = 1; // not private: the sleepers are in other processes

  /** The one function of libc that is used; mapped directly, since it is called often. */
  static final class LibC {
    static {
      Native.register(LibC.class, "c");
    }

    private LibC() {}

    static native long syscall(
        long number, long word, int operation, int value, long timeout, long second, int third)
        throws LastErrorException;
  }

  private final long number;

  public Futex() {
    this(System.getProperty("os.arch", ""));
  }

  Futex(String arch) {
    this.number =
        switch (arch) {
          case "amd64", "x86_64" -> 202;
          case "aarch64" -> 98;
          default -> throw new IllegalStateException("architecture " + arch + ": is not known");
        };
  }

  /**
   * Wakes all that wait on the word at {@code at} of a shared mapping; says how many there were.
   */
  public int wakeAll(MemorySegment mapping, long at) {
    long word = mapping.asSlice(at, Integer.BYTES).address();
    return (int) LibC.syscall(number, word, WAKE, Integer.MAX_VALUE, 0, 0, 0);
  }
}
