package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.runtime.Lane;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BooksTest {
  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void end() throws Exception {
    Rig.done(vertx.close());
  }

  private Books books() {
    return new Books(
        new Checkpoint<>(
            dir.resolve("allocations.json"),
            LedgerCodec.CODEC,
            new Lane(vertx, "files", 8, Duration.ofSeconds(5), new SimpleMeterRegistry()),
            Clock.systemUTC()));
  }

  private static Deadline in(Duration limit) {
    return Deadline.in(limit, System::nanoTime);
  }

  @Test
  void closingWaitsForWhatIsUnderWayAndLetsNothingBegin() throws Exception {
    Books books = books();
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    var answer =
        CompletableFuture.supplyAsync(
            () ->
                books.alone(
                    in(Duration.ofMinutes(1)),
                    d -> {
                      inside.countDown();
                      try {
                        return Outcome.given(finish.await(1, TimeUnit.MINUTES));
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
    assertThat(inside.await(1, TimeUnit.MINUTES)).isTrue();
    assertThat(books.close(in(Duration.ofMillis(1)))).as("bounded").isFalse();
    finish.countDown();
    assertThat(books.close(in(Duration.ofMinutes(1)))).isTrue();
    assertThat(answer.get(1, TimeUnit.MINUTES)).isEqualTo(Outcome.given(true));
    assertThat(books.alone(in(Duration.ofMinutes(1)), d -> Outcome.given(true)))
        .isInstanceOf(Outcome.Refused.class);
  }
}
