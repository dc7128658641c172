package io.vgpu.agent.posix;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Wakes processes that sleep on a word of memory shared with them, which the JDK cannot (D23).
 * Never blocks; any thread that may use the segment.
 */
public final class Futex {
  private static final int WAKE = 1; // not private: the sleepers are in other processes

  /** The one function of libc that is used. */
  interface LibC extends Library {
    NativeLong syscall(
        NativeLong number,
        Pointer word,
        int operation,
        int value,
        @Nullable Pointer timeout,
        @Nullable Pointer second,
        int third)
        throws LastErrorException;
  }

  private final LibC libc;
  private final NativeLong number;

  public Futex() {
    this(Native.load("c", LibC.class), System.getProperty("os.arch", ""));
  }

  Futex(LibC libc, String arch) {
    this.libc = libc;
    this.number =
        new NativeLong(
            switch (arch) {
              case "amd64", "x86_64" -> 202;
              case "aarch64" -> 98;
              default -> throw new IllegalStateException("architecture " + arch + ": is not known");
            });
  }

  /**
   * Wakes all that wait on the word at {@code at} of a shared mapping; says how many there were.
   */
  public int wakeAll(MemorySegment mapping, long at) {
    Pointer word = new Pointer(mapping.asSlice(at, Integer.BYTES).address());
    return libc.syscall(number, word, WAKE, Integer.MAX_VALUE, null, null, 0).intValue();
  }
}
