package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Rejected;
import io.vgpu.model.Reason;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A rig for each test, and what is asked of every admission. */
abstract class RigTest {
  @TempDir Path dir;
  Rig rig;

  @BeforeEach
  void begin() throws Exception {
    rig = new Rig(dir);
  }

  @AfterEach
  void end() throws Exception {
    rig.close();
  }

  final void gotItsClaim(TestPod pod, Result result) {
    assertThat(result).as(pod.ref().toString()).isInstanceOf(Admitted.class);
    Map<String, ?> answers = ((Admitted) result).answers();
    pod.demand()
        .vgpuContainers()
        .forEach(
            c -> {
              assertThat(answers).containsKey(c.name());
              assertThat(Rig.cards(rig.kubelet.held(pod.ref().uid(), c.name())))
                  .isEqualTo(pod.claimed(c.name()));
              assertThat(
                      new TreeSet<>(
                          rig.shim.of(pod.ref().uid(), c.name()).stream()
                              .map(l -> l.uuid().value())
                              .toList()))
                  .isEqualTo(pod.claimed(c.name()));
            });
  }

  static void refused(Result result, Reason reason) {
    assertThat(result).isInstanceOf(Rejected.class);
    assertThat(((Rejected) result).message())
        .startsWith("Allocate check failed: " + reason.phrase() + ": ");
  }
}
