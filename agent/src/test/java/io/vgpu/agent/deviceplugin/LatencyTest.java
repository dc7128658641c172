package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a pod asks by {@code vgpu-latency} is in its limits. */
class LatencyTest extends RigTest {
  @BeforeEach
  void start() throws Exception {
    rig.startAgent();
  }

  private Set<Flag> flagsOf(String asked) {
    TestPod pod = TestPod.of("p-" + asked, app("main", 1));
    pod.annotations().put(TestPod.NAMES.latency(), asked);
    assertThat(rig.run(pod)).isInstanceOf(Admitted.class);
    rig.started(pod); // PreStartContainer compares the limits with the claim
    return rig.shim.of(pod.ref().uid(), "main").getFirst().flags();
  }

  @Test
  void whoAsksForItNeverWaitsForATurn() {
    assertThat(flagsOf("True")).contains(Flag.LATENCY, Flag.COMPUTE_LIMIT);
  }

  @Test
  void nobodyElse() {
    assertThat(flagsOf("false")).doesNotContain(Flag.LATENCY);
    assertThat(flagsOf("")).doesNotContain(Flag.LATENCY);
  }
}
