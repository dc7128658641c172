package io.vgpu.agent.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FutexTest {
  private static final long WORD = 128;

  @TempDir Path dir;

  private static MemorySegment map(Path file, MapMode mode, Arena arena) throws Exception {
    StandardOpenOption[] how =
        mode == MapMode.READ_ONLY
            ? new StandardOpenOption[] {StandardOpenOption.READ}
            : new StandardOpenOption[] {StandardOpenOption.READ, StandardOpenOption.WRITE};
    try (FileChannel channel = FileChannel.open(file, how)) {
      return channel.map(mode, 0, 4096, arena);
    }
  }

  @Test
  void wakesASleeperThatMappedTheFileReadOnly() throws Exception {
    Path file = Files.write(dir.resolve("load"), new byte[4096]);
    long number = System.getProperty("os.arch").equals("aarch64") ? 98 : 202;
    try (Arena arena = Arena.ofShared();
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      MemorySegment sleeper = map(file, MapMode.READ_ONLY, arena);
      MemorySegment waker = map(file, MapMode.READ_WRITE, arena);
      Future<Integer> slept =
          threads.submit(
              () ->
                  (int)
                      Futex.LibC.syscall(
                          number,
                          sleeper.address() + WORD,
                          0, // wait, as long as the word is
                          0,
                          0,
                          0,
                          0));
      Futex futex = new Futex();
      int woken = 0;
      for (long from = System.nanoTime();
          woken == 0 && System.nanoTime() - from < TimeUnit.SECONDS.toNanos(20); ) {
        woken = futex.wakeAll(waker, WORD);
        Thread.onSpinWait();
      }
      // lets it go also where the wake was missed
      waker.set(ValueLayout.JAVA_INT, WORD, 1);
      assertThat(woken).isEqualTo(1);
      assertThat(slept.get(20, TimeUnit.SECONDS)).isZero();
      assertThat(futex.wakeAll(waker, WORD)).isZero();
    }
  }

  @Test
  void anUnknownArchitectureIsRefused() {
    assertThatThrownBy(() -> new Futex("sparc")).hasMessageContaining("sparc");
  }
}
