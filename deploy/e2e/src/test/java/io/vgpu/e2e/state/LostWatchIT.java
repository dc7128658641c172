package io.vgpu.e2e.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.state.SchedulerStandIn.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two extenders, as beside two replicas of kube-scheduler: one loses sight of the cluster in one of
 * three ways while the other binds, then is asked itself, as after a change of leader.
 */
@RealCluster
class LostWatchIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final List<String> NODE = List.of("state-a");

  private final Cluster cluster;
  private final StateStage stage;

  LostWatchIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.stage = new StateStage(cluster, namespace.name());
  }

  @BeforeEach
  void oneNodeOfTwoCards() {
    stage.nodes().create("state-a", 2);
  }

  @AfterEach
  void clear() {
    stage.close();
  }

  @Test
  void cutOffItBindsNothingAndIsCaughtUpAfterwards() throws IOException {
    stage.nodes().create("state-b", 1);
    CutProxy way = stage.proxy();
    SchedulerStandIn blind = new SchedulerStandIn(stage.extender("cut-off", way.url()));
    ExtenderProcess other = stage.extender("beside-cut-off");
    Pod waits = stage.pods().create("waits", 1, 100, 20_000);
    stage.awaitFits(blind, waits, 2);
    try (Promises promises = stage.promises()) {
      way.cut();
      fill(new SchedulerStandIn(other));
      stage.nodes().delete("state-b");
      assertThat(blind.bind(waits, "state-a")).isNotEmpty();
      assertThat(stage.pods().read("waits").getSpec().getNodeName()).isNull();

      way.mend();
      stage.awaitFits(blind, waits, 0);
      stage.pods().delete("full-0");
      stage.awaitFits(blind, waits, 1);
      Await.until("its bind", LIMIT, () -> blind.cycle(waits, NODE) instanceof Outcome.Bound);
      Await.until("the bind to be seen", LIMIT, () -> promises.bound() == 2);
      assertThat(promises.broken()).isEmpty();
    }
  }

  @Test
  void deafWithoutKnowingItAsksBeforeItBinds() throws IOException {
    CutProxy way = stage.proxy();
    SchedulerStandIn deaf = new SchedulerStandIn(stage.extender("deaf", way.url()));
    ExtenderProcess other = stage.extender("beside-deaf");
    Pod waits = stage.pods().create("waits", 1, 100, 20_000);
    stage.awaitFits(deaf, waits, 1);
    try (Promises promises = stage.promises()) {
      way.hang();
      fill(new SchedulerStandIn(other));
      // it still thinks that there is room: nothing has told it otherwise
      assertThat(deaf.filter(waits, NODE).fits()).isEqualTo(NODE);
      // no leader of kube-scheduler follows another in less
      Await.until("a leader's pause to pass", LIMIT, new Pause(Duration.ofSeconds(2))::over);
      for (int i = 0; i < 3; i++) {
        assertThat(deaf.bind(waits, "state-a")).isNotEmpty();
      }
      assertThat(deaf.bind(waits, "state-a")).contains("Insufficient");
      assertThat(stage.pods().read("waits").getSpec().getNodeName()).isNull();

      way.mend();
      stage.pods().delete("full-1");
      Await.until("its bind", LIMIT, () -> deaf.cycle(waits, NODE) instanceof Outcome.Bound);
      Await.until("the bind to be seen", LIMIT, () -> promises.bound() == 2);
      assertThat(promises.broken()).isEmpty();
    }
  }

  @Test
  void whatTheApiServerHasForgottenIsListedAnew() throws IOException {
    CutProxy way = stage.proxy();
    SchedulerStandIn late = new SchedulerStandIn(stage.extender("late", way.url()));
    ExtenderProcess other = stage.extender("beside-late");
    Pod waits = stage.pods().create("waits", 1, 100, 20_000);
    stage.awaitFits(late, waits, 1);
    way.cut();
    fill(new SchedulerStandIn(other));
    other.kill9();
    // the watch cache begins anew, later than what the watch would go on from: 410
    cluster.kill9(Part.APISERVER);
    cluster.restart(Part.APISERVER);
    long before = cluster.auditLog().position();
    way.mend();
    stage.awaitFits(late, waits, 0);
    assertThat(cluster.auditLog().since(before))
        .anyMatch(
            r ->
                r.user().equals(OurPart.EXTENDER.user())
                    && r.verb().equals("list")
                    && r.resource().equals("pods"));
    stage.pods().delete("full-0");
    stage.awaitFits(late, waits, 1);
    assertThat(late.cycle(waits, NODE)).isInstanceOf(Outcome.Bound.class);
    try (Promises promises = stage.promises()) {
      Await.until("all binds to be seen", LIMIT, () -> promises.bound() == 2);
      assertThat(promises.broken()).isEmpty();
    }
  }

  /** Both cards, wholly. */
  private void fill(SchedulerStandIn scheduler) {
    for (Pod pod : stage.create("full", 2, 100, 20_000)) {
      Await.until(
          "the other extender's bind",
          LIMIT,
          () -> scheduler.cycle(pod, NODE) instanceof Outcome.Bound);
    }
  }

  /** A time that has to pass. */
  private record Pause(long endNanos) {
    Pause(Duration length) {
      this(System.nanoTime() + length.toNanos());
    }

    boolean over() {
      return System.nanoTime() - endNanos >= 0;
    }
  }
}
