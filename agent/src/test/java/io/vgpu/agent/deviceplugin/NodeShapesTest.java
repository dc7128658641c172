package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.agent.shim.DeviceLimits;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that are not eight shared cards. */
class NodeShapesTest {
  @TempDir Path dir;

  @Test
  void cardsBeyondTheSixteenthAreCardsLikeAnyOther_13_6() throws Exception {
    Rig rig = new Rig(dir, 20);
    try {
      rig.startUnregistered();
      rig.kubelet.nextRegistration();
      assertThat(rig.kubelet.nextList()).hasSize(80);
      TestPod pod = rig.bind(TestPod.of("p", app("main", 19, 16)));
      Admitted admitted = (Admitted) rig.kubelet.admit(pod.ref(), pod.demand());
      assertThat(admitted.answers().values().iterator().next().getEnvsMap())
          .containsEntry(
              "NVIDIA_VISIBLE_DEVICES", FixedInventory.uuid(16) + "," + FixedInventory.uuid(19));
      assertThat(rig.shim.of("uid-p", "main"))
          .extracting(DeviceLimits::nvmlIndex)
          .containsExactly(16, 19);
    } finally {
      rig.close();
    }
  }

  @Test
  void withoutSlotsToOfferTheRestOfTheAgentWorks_13_28() throws Exception {
    Rig rig = new Rig(dir, 2);
    try {
      rig.served = false;
      rig.startUnregistered();
      assertThat(rig.plugin().missing()).as("ready").isEmpty();
      assertThat(rig.kubelet.pluginDir()).isDirectoryNotContaining("glob:**nvidia-vgpu*");
    } finally {
      rig.close();
    }
  }
}
