package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A pod that its kubelet will never start is handed on, once, and only after a while. */
class StrandedTest {
  @Test
  void whoRecoversMeanwhileIsLeftAlone() {
    TestPod pod = TestPod.of("p", app("main", 0)).asStranded();
    List<Reason> told = new ArrayList<>();
    Stranded stranded = new Stranded((p, reason, detail) -> told.add(reason));
    long patience = Stranded.PATIENCE.toNanos();
    stranded.report(view(pod), uid -> true, 0);
    stranded.report(view(TestPod.of("p", app("main", 0))), uid -> true, patience);
    stranded.report(view(pod), uid -> true, patience + 1);
    assertThat(told).isEmpty();
    stranded.report(view(pod), uid -> false, 3 * patience);
    assertThat(told).as("another's pod is not our business").isEmpty();
    stranded.report(view(pod), uid -> true, 4 * patience);
    stranded.report(view(pod), uid -> true, 5 * patience);
    assertThat(told).containsExactly(Reason.NEVER_STARTS);
  }

  private static PodView view(TestPod pod) {
    return new PodView(List.of(), List.of(pod.node()), true, uid -> true);
  }
}
