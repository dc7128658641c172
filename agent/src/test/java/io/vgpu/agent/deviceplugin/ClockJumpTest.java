package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.event.VgpuEvent.ClaimReleased;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The machine's clock is set while pods live: nothing that is decided may depend on it. */
class ClockJumpTest extends RigTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 36_500})
  void aPodsLifeGoesOnWhateverTheClockSays(long days) throws Exception {
    rig.startAgent();
    AtomicBoolean done = new AtomicBoolean();
    Thread jumps =
        Thread.ofVirtual()
            .start(
                () -> {
                  for (long sign = 1; !done.get(); sign = -sign) {
                    rig.clockOff = Duration.ofDays(sign * days);
                    LockSupport.parkNanos(1_000_000);
                  }
                });
    try {
      live();
    } finally {
      done.set(true);
      jumps.join();
    }
  }

  private void live() throws Exception {
    TestPod before = TestPod.of("before", init("i", 0), app("main", 0));
    gotItsClaim(before, rig.run(before));
    rig.started(before);
    TestPod after = TestPod.of("after", app("main", 0, 1));
    gotItsClaim(after, rig.run(after));

    rig.stopAgent();
    rig.startAgent();
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-after", "main"))).isEmpty();
    TestPod later = TestPod.of("later", app("main", 1));
    gotItsClaim(later, rig.run(later));
    Set<String> ids = new HashSet<>();
    int held = 0;
    for (String pod : List.of("before", "after", "later")) {
      Set<String> its = rig.kubelet.held("uid-" + pod, "main");
      ids.addAll(its);
      held += its.size();
    }
    assertThat(ids).as("no id twice").hasSize(held).hasSize(4);

    rig.gone(before);
    assertThat(rig.fact(ClaimReleased.class).container().pod().name()).isEqualTo("before");
    assertThat(rig.managerFiles())
        .as("no notes were set aside")
        .noneMatch(f -> f.toString().contains("corrupt"));
  }
}
