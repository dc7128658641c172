package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kubelet that forgot what it gave to a pod with an init container (identity-facts.md 3). */
class KubeletWithoutCheckpointTest {
  @TempDir Path dir;
  private Rig rig;

  @BeforeEach
  void begin() throws Exception {
    rig = new Rig(dir);
    rig.startAgent();
  }

  @AfterEach
  void end() throws Exception {
    rig.close();
  }

  private static String identity(Result result, String container) {
    assertThat(result).isInstanceOf(Result.Admitted.class);
    return ((Result.Admitted) result)
        .answers().entrySet().stream()
            .filter(e -> e.getKey().equals(container))
            .map(e -> e.getValue().getEnvsMap().get("VGPU_CONTAINER_NAME"))
            .findFirst()
            .orElse("nobody");
  }

  @Test
  void aPodThatIsAdmittedAnewGetsTheIdsThatItHad() throws Exception {
    TestPod pod = TestPod.of("p", init("i", 0), app("main", 0));
    assertThat(rig.run(pod)).isInstanceOf(Result.Admitted.class);
    Set<String> ids = rig.kubelet.held("uid-p", "i");
    rig.kubelet.loseCheckpoint();
    Result anew = rig.kubelet.admit(pod.ref(), pod.demand());
    assertThat(identity(anew, "i")).isEqualTo("i");
    assertThat(identity(anew, "main")).isEqualTo("main");
    assertThat(rig.kubelet.held("uid-p", "i"))
        .as("one slot of the card, as planned")
        .isEqualTo(ids);
    assertThat(rig.kubelet.held("uid-p", "main")).isEqualTo(ids);
  }
}
