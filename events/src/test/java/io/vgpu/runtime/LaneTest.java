package io.vgpu.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class LaneTest {
  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  @Test
  void runsInOrderOnOneThreadAndSurvivesAFailure(Vertx vertx) throws Exception {
    Lane lane = new Lane(vertx, "test", 200, Duration.ofSeconds(5), new SimpleMeterRegistry());
    List<Integer> order = new ArrayList<>();
    List<Future<Thread>> threads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int n = i;
      if (i == 50) {
        Future<Object> failing =
            lane.call(
                () -> {
                  throw new IllegalStateException("on purpose");
                });
        assertThatThrownBy(() -> await(failing)).hasRootCauseMessage("on purpose");
      }
      threads.add(
          lane.call(
              () -> {
                order.add(n);
                return Thread.currentThread();
              }));
    }
    Thread first = await(threads.getFirst());
    for (Future<Thread> t : threads) {
      assertThat(await(t)).isSameAs(first);
    }
    assertThat(order).isSorted().hasSize(100);
    assertThat(lane.depth()).isZero();
  }

  @Test
  void aFullLaneRefusesAtOnceAndRecovers(Vertx vertx) throws Exception {
    Lane lane = new Lane(vertx, "full", 2, Duration.ofSeconds(30), new SimpleMeterRegistry());
    CountDownLatch gate = new CountDownLatch(1);
    Future<Boolean> running = lane.call(() -> gate.await(10, TimeUnit.SECONDS));
    Future<Integer> waiting = lane.call(() -> 1);
    Future<Integer> refused = lane.call(() -> 2);
    assertThat(refused.failed()).isTrue();
    assertThat(refused.cause())
        .isInstanceOf(LaneFullException.class)
        .hasMessageContaining("lane full is full");
    gate.countDown();
    assertThat(await(running)).isTrue();
    assertThat(await(waiting)).isEqualTo(1);
    assertThat(await(lane.call(() -> 3))).isEqualTo(3);
  }

  @Test
  void aLaneThatHangsHoldsUpNoOtherLaneOfTheSameCaller(Vertx vertx) throws Exception {
    Lane hanging = new Lane(vertx, "hanging", 2, Duration.ofSeconds(30), new SimpleMeterRegistry());
    Lane other = new Lane(vertx, "other", 2, Duration.ofSeconds(30), new SimpleMeterRegistry());
    CountDownLatch gate = new CountDownLatch(1);
    Promise<Integer> answered = Promise.promise();
    Promise<Boolean> released = Promise.promise();
    vertx.runOnContext(
        v -> {
          hanging.call(() -> gate.await(10, TimeUnit.SECONDS)).onComplete(released);
          other.call(() -> 1).onComplete(answered);
        });
    assertThat(await(answered.future())).isEqualTo(1);
    assertThat(released.future().isComplete()).isFalse();
    gate.countDown();
    assertThat(await(released.future())).isTrue();
  }

  @Test
  void aClosedLaneRefuses(Vertx vertx) throws Exception {
    Lane lane = new Lane(vertx, "closed", 2, Duration.ofSeconds(30), new SimpleMeterRegistry());
    await(lane.close());
    assertThatThrownBy(() -> await(lane.call(() -> 1)))
        .hasRootCauseInstanceOf(RejectedExecutionException.class);
    assertThat(lane.depth()).isZero();
  }
}
