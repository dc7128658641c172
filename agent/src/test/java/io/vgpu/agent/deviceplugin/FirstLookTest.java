package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class FirstLookTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Executor THREADS = r -> Thread.ofVirtual().start(r);

  @Test
  void theListWaitsForTheLookButTheRegistrationDoesNot() throws Exception {
    CountDownLatch kubeletAnswers = new CountDownLatch(1);
    AtomicBoolean looked = new AtomicBoolean();
    FirstLook look =
        new FirstLook(
            () -> {
              try {
                looked.set(kubeletAnswers.await(LONG.toSeconds(), TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            LONG,
            THREADS);
    look.begin();
    assertThat(looked).as("registering goes on").isFalse();
    AtomicBoolean before = new AtomicBoolean();
    Thread list =
        Thread.ofVirtual()
            .start(
                () -> {
                  look.await();
                  before.set(looked.get());
                });
    kubeletAnswers.countDown();
    assertThat(list.join(LONG)).isTrue();
    assertThat(before).as("looked before the list").isTrue();
  }

  @Test
  void noListWaitsForEverNorForNothing() {
    FirstLook none = new FirstLook(() -> {}, LONG, THREADS);
    none.await();
    CountDownLatch never = new CountDownLatch(1);
    FirstLook hangs =
        new FirstLook(
            () -> {
              try {
                never.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            Duration.ofMillis(10),
            THREADS);
    hangs.begin();
    hangs.await();
    FirstLook breaks =
        new FirstLook(
            () -> {
              throw new IllegalStateException("broken on purpose");
            },
            LONG,
            THREADS);
    breaks.begin();
    breaks.await();
    never.countDown();
  }
}
