package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodClaim;
import io.vgpu.runtime.Lane;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a bind asks the API server who is on a node, and what it makes of the answer. */
class DeafnessCheckTest {
  private static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123");

  private final Vertx vertx = Vertx.vertx();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final ClusterState state =
      new ClusterState(new ClaimReader(() -> SEAL), 0, () -> 0, Nodes.QUIET);
  private final CommitDesk desk =
      new CommitDesk(
          state, new Allocator(new Policies()), new Alignments(state.siblings()), () -> 0);
  private long now;
  private int asked;
  private BindingApi.OnNode answer = new BindingApi.OnNode.Pods(List.of());
  private final DeafnessCheck check =
      new DeafnessCheck(
          () -> 0,
          () -> now,
          new Api(),
          new Lane(vertx, "scheduler", 8, Duration.ofSeconds(5), registry),
          desk,
          new SchedulerMeters(registry));

  private final class Api implements BindingApi {
    @Override
    public Posted post(Binding binding) {
      throw new AssertionError("nothing is bound here");
    }

    @Override
    public Found read(String namespace, String name) {
      return new Found.Absent();
    }

    @Override
    public OnNode onNode(String node) {
      asked++;
      return answer;
    }
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void asksOnlyAfterSilence() {
    now = DeafnessCheck.FRESH.toNanos() - 1;
    assertThat(check.refusal("n1")).isEmpty();
    assertThat(asked).isZero();
    now++;
    assertThat(check.refusal("n1")).isEmpty();
    assertThat(asked).isEqualTo(1);
    assertThat(registry.get("vgpu.scheduler.bind.recheck").counter().count()).isEqualTo(1);
  }

  @Test
  void refusesWhereTheAnswerIsMissing() {
    now = DeafnessCheck.FRESH.toNanos();
    answer = new BindingApi.OnNode.Unreadable("gone away");
    assertThat(check.refusal("n1")).contains("the pods on node \"n1\" cannot be read: gone away");
  }

  @Test
  void whatTheWatchHasNotShownIsPlannedAround() {
    state.putNode(Nodes.record("n1", Nodes.u(1), NodeConfig.DEFAULT));
    PodRequest other = Pods.of(1, 100, 1000).request("other");
    PodClaim claim =
        new PodClaim(
            List.of(
                new ContainerClaim(
                    "c1",
                    List.of(
                        new DeviceClaim(
                            0, Nodes.uuid(0), new CorePercent(100), new MemoryMiB(1000))))));
    answer =
        new BindingApi.OnNode.Pods(
            List.of(
                new PodRecord(
                    other,
                    "n1",
                    false,
                    false,
                    ClaimCodec.encode(claim),
                    SEAL.seal(other.pod().uid(), claim))));
    now = DeafnessCheck.FRESH.toNanos();
    assertThat(check.refusal("n1")).isEmpty();
    assertThat(desk.plan(Pods.of(1, 10, 10).request("mine"), "n1"))
        .isInstanceOf(CommitDesk.Step.NoFit.class);
  }
}
