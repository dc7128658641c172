package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static io.vgpu.agent.deviceplugin.TestPod.sidecar;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.event.VgpuEvent.AllocationFailed;
import java.nio.file.Path;
import java.util.List;
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

  private void restart(String... running) throws Exception {
    rig.kubelet.kill();
    rig.kubelet.loseCheckpoint();
    rig.kubelet.running.addAll(List.of(running));
    rig.kubelet.known().forEach(k -> rig.kubelet.remove(k.ref().uid()));
    rig.kubelet.start();
    rig.kubelet.nextRegistration();
    rig.kubelet.nextList();
  }

  @Test
  void whoEndedWhileTheKubeletWasAwayIsNotTakenForOneWhoseStartTheStatusDoesNotShow()
      throws Exception {
    TestPod lags = TestPod.of("lags", sidecar("side", 1), app("main", 2, 3));
    assertThat(rig.run(lags)).isInstanceOf(Result.Admitted.class);
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-lags", "side"))).isEmpty();
    TestPod ended = TestPod.of("ended", app("main", 4));
    assertThat(rig.run(ended)).isInstanceOf(Result.Admitted.class);
    rig.started(ended);
    restart("uid-lags/side");
    Result first = rig.kubelet.admit(lags.ref(), lags.demand());
    assertThat(((Result.Admitted) first).answers()).containsOnlyKeys("main");
    Result second = rig.kubelet.admit(ended.ref(), ended.demand());
    assertThat(second).isInstanceOf(Result.Admitted.class);
    assertThat(Rig.cards(rig.kubelet.held("uid-ended", "main"))).isEqualTo(ended.claimed("main"));
  }

  @Test
  void aQuestionForAnotherNumberIsNotHeldAgainstWhoeverWaits() throws Exception {
    TestPod waits = TestPod.of("waits", app("left", 0), app("right", 1, 2));
    assertThat(rig.run(waits)).isInstanceOf(Result.Admitted.class);
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-waits", "right"))).isEmpty();
    restart("uid-waits/right");
    assertThat(rig.kubelet.admit(waits.ref(), waits.demand())).isInstanceOf(Result.Admitted.class);
    TestPod stranger = TestPod.of("stranger", app("main", 3));
    Result result = rig.kubelet.admit(stranger.ref(), stranger.demand());
    assertThat(result).isInstanceOf(Result.Rejected.class);
    TestPod next = TestPod.of("next", app("main", 4));
    assertThat(rig.run(next)).isInstanceOf(Result.Admitted.class);
    assertThat(rig.facts)
        .noneMatch(f -> f instanceof AllocationFailed a && a.pod().name().equals("waits"));
  }

  @Test
  void twoInitContainersAndAnAppOnOneCardAreToldApartWhenAskedAnew() throws Exception {
    TestPod pod = TestPod.of("p", init("i", 0), init("j", 0), app("main", 0));
    assertThat(rig.run(pod)).isInstanceOf(Result.Admitted.class);
    restart();
    Result anew = rig.kubelet.admit(pod.ref(), pod.demand());
    for (String container : List.of("i", "j", "main")) {
      assertThat(identity(anew, container)).isEqualTo(container);
    }
  }

  @Test
  void aPodThatWasRefusedIsRefusedAgain() throws Exception {
    TestPod pod = TestPod.of("p", app("main", 0)).without(TestPod.NAMES.claimHmac());
    assertThat(rig.run(pod)).isInstanceOf(Result.Rejected.class);
    restart();
    rig.bind(TestPod.of("p", app("main", 0)));
    Result again = rig.kubelet.admit(pod.ref(), pod.demand());
    assertThat(again).isInstanceOf(Result.Rejected.class);
  }
}
