package io.vgpu.agent.shim;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * One writer, any number of readers, no lock (cuda-shim.md 3.3, 3.6): the word is odd while its
 * fields change. The writer is the lane that owns the region; a reader gives up after {@link
 * Abi#SEQLOCK_TRIES} and keeps its last copy.
 */
final class Seqlock {
  private static final VarHandle WORD = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private Seqlock() {}

  /**
   * Changes what the word at {@code at} guards. A word left odd by a writer that died is taken
   * over.
   */
  static void write(MemorySegment region, long at, Runnable change) {
    int odd = (int) WORD.getOpaque(region, at) | 1;
    WORD.setOpaque(region, at, odd);
    VarHandle.storeStoreFence(); // no field may be seen new while the word is seen even and old
    change.run();
    WORD.setRelease(region, at, odd + 1);
  }

  /** A copy that no write tore, or empty when the writer never paused long enough. */
  static <T> Optional<T> read(MemorySegment region, long at, Supplier<T> copy) {
    for (int i = 0; i < Abi.SEQLOCK_TRIES; i++) {
      int before = (int) WORD.getAcquire(region, at);
      if ((before & 1) == 0) {
        T value = copy.get();
        VarHandle.acquireFence(); // the second load must not be taken before the copy
        if ((int) WORD.getOpaque(region, at) == before) {
          return Optional.of(value);
        }
      }
      Thread.onSpinWait();
    }
    return Optional.empty();
  }
}
