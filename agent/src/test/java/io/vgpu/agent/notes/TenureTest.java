package io.vgpu.agent.notes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TenureTest {
  private static final long BOUND = 60;

  @TempDir Path dir;
  private Path file = Path.of("tenure");

  @BeforeEach
  void name() {
    file = dir.resolve("checkpoints").resolve("tenure");
  }

  private static CompletableFuture<Optional<Tenure.Begun>> waits(
      Tenure tenure, CountDownLatch waiting) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return tenure.await(waiting::countDown);
          } catch (java.io.IOException e) {
            throw new CompletionException(e);
          }
        });
  }

  @Test
  void whoEndsInOrderTellsUntilWhenItServed() throws Exception {
    try (Tenure first = new Tenure(file);
        Tenure second = new Tenure(file)) {
      assertThat(first.await(() -> {}).orElseThrow().isHandedOver()).isFalse();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      CountDownLatch waiting = new CountDownLatch(1);
      var begun = waits(second, waiting);
      assertThat(waiting.await(BOUND, TimeUnit.SECONDS)).isTrue();
      assertThat(second.isHeld()).isFalse();

      first.end(-17);
      assertThat(first.isHeld()).isFalse();
      assertThat(begun.get(BOUND, TimeUnit.SECONDS).orElseThrow().servedUntil()).hasValue(-17);
      assertThat(second.isHeld()).isTrue();
    }
  }

  @Test
  void whoComesLaterIsHandedNothingOver() throws Exception {
    try (Tenure first = new Tenure(file);
        Tenure second = new Tenure(file)) {
      assertThat(first.await(() -> {})).isPresent();
      first.end(1);
      assertThat(second.await(() -> {}).orElseThrow().isHandedOver())
          .as("much may have happened since")
          .isFalse();
    }
  }

  @Test
  void waitingEndsWhenItIsClosed() throws Exception {
    Tenure second = new Tenure(file);
    try (Tenure first = new Tenure(file)) {
      assertThat(first.await(() -> {})).isPresent();
      CountDownLatch waiting = new CountDownLatch(1);
      var begun = waits(second, waiting);
      assertThat(waiting.await(BOUND, TimeUnit.SECONDS)).isTrue();
      second.close();
      assertThat(begun.get(BOUND, TimeUnit.SECONDS)).isEmpty();
      assertThat(first.isHeld()).isTrue();
    }
  }

  @Test
  void theTenureOfAKilledProcessEndsAndNothingIsBelieved() throws Exception {
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                TenureHolder.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = holder.inputReader();
        Tenure next = new Tenure(file)) {
      String line = said.readLine();
      while (line != null && !line.equals("held")) {
        line = said.readLine();
      }
      assertThat(line).isEqualTo("held");
      CountDownLatch waiting = new CountDownLatch(1);
      var begun = waits(next, waiting);
      assertThat(waiting.await(BOUND, TimeUnit.SECONDS)).isTrue();
      assertThat(begun).as("one at a time").isNotDone();

      var unused = holder.destroyForcibly();
      assertThat(begun.get(BOUND, TimeUnit.SECONDS).orElseThrow().isHandedOver()).isFalse();
    } finally {
      var unused = holder.destroyForcibly();
    }
  }
}
