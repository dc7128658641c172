package io.vgpu.agent.mps;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two cards, one of whose daemons does not start. */
class MpsVerticleTest {
  private static final GpuUuid OTHER = new GpuUuid("GPU-00000000-0000-0000-0000-000000000002");
  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @AfterEach
  void end() throws Exception {
    done(vertx.close());
  }

  private static <T> T done(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static PhysicalGpu gpu(int index, GpuUuid uuid) {
    return new PhysicalGpu(
        index, index, uuid, "NVIDIA H200", 1L << 37, "0:0", 0, 9.0f, 132, false, List.of());
  }

  private Lane lane(int index) {
    return new Lane(vertx, "mps-" + index, 4, Duration.ofSeconds(60), meters);
  }

  @Test
  void eachCardHasItsOwnAndOneThatFailsHoldsUpNobody() throws Exception {
    try (FakeMps good = new FakeMps(dir);
        FakeMps bad = new FakeMps(dir, OTHER)) {
      bad.does("refuse");
      MpsVerticle mps =
          new MpsVerticle(
              List.of(gpu(1, FakeMps.CARD), gpu(2, OTHER)),
              Map.of(1, lane(1), 2, lane(2)),
              dir,
              FakeMps::words,
              System::nanoTime,
              FakeMps::noMount,
              meters);
      String id = done(vertx.deployVerticle(mps));
      assertThat(mps.cards()).containsExactlyInAnyOrder(FakeMps.CARD, OTHER);
      assertThat(mps.serves(FakeMps.CARD)).isTrue();
      assertThat(mps.serves(OTHER)).isFalse();
      assertThat(mps.serves(new GpuUuid("GPU-3"))).isFalse();
      assertThat(mps.folders(FakeMps.CARD).orElseThrow().pipe()).isEqualTo(good.folders.pipe());
      assertThat(mps.folders(new GpuUuid("GPU-3"))).isEmpty();
      assertThat(serves("1")).isEqualTo(1);
      assertThat(serves("2")).isZero();
      assertThat(AgentMeters.MPS_STARTS.counter(meters, "1", "ok").count()).isEqualTo(1);
      assertThat(AgentMeters.MPS_STARTS.counter(meters, "2", "failed").count()).isPositive();
      assertThat(good.started()).containsExactly(FakeMps.CARD.value());
      done(vertx.undeploy(id));
      assertThat(good.lives()).isFalse();
    }
  }

  private double serves(String index) {
    return meters.get("vgpu.mps.serves").tag("device_idx", index).gauge().value();
  }
}
