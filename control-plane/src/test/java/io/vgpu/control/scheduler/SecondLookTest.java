package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.NodeConfig;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SecondLookTest {
  private final ClusterState state =
      new ClusterState(
          new ClaimReader(() -> ClaimSeal.parse("0123456789abcdef0123")), 0, () -> 1, Nodes.QUIET);
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();

  /**
   * Each look at the clock is a millisecond; the node is heard of at the tenth look at the
   * snapshot.
   */
  private ClusterSnapshot snapshot() {
    if (asked.incrementAndGet() == 10) {
      state.putNode(Nodes.record("late", Nodes.u(1), NodeConfig.DEFAULT));
      state.publish();
    }
    return state.snapshot();
  }

  private SecondLook look() {
    return new SecondLook(this::snapshot, () -> clock.addAndGet(1_000_000));
  }

  @Test
  void aChangeThatIsHeardOfAMomentLaterCounts() {
    boolean fits = look().judge(s -> s.node("late").isPresent(), f -> !f);
    assertThat(fits).isTrue();
  }

  @Test
  void whatFitsIsAnsweredAtOnce() {
    boolean fits = look().judge(s -> true, f -> !f);
    assertThat(fits).isTrue();
    assertThat(asked).hasValue(1);
  }

  @Test
  void whatNeverFitsIsAnsweredAfterTheMomentAndABacklogIsNotSlowed() {
    SecondLook look = look();
    for (int pod = 0; pod < 100; pod++) {
      boolean fits = look.judge(s -> s.node("never").isPresent(), f -> !f);
      assertThat(fits).isFalse();
    }
    // the moments of a few, and one look of each of the others
    assertThat(clock.get()).isLessThan(100 * 150_000_000L / 4);
  }
}
