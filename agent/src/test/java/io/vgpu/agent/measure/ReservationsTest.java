package io.vgpu.agent.measure;

import static io.vgpu.agent.measure.Pods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.measure.Pods.Wants;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Use;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReservationsTest {
  private static final GpuUuid CARD = FakeGpuDriver.uuid(0);

  private final Reservations reservations =
      new Reservations(Names.DEFAULT, new ClaimReader(() -> Pods.SEAL));

  private Use of(NodePod... pods) {
    return reservations.of(List.of(pods)).of(CARD);
  }

  private static Wants app(String name, int cores) {
    return new Wants(name, ContainerKind.APP, cores, 10L * cores);
  }

  private static Wants init(String name, int cores) {
    return new Wants(name, ContainerKind.INIT, cores, 10L * cores);
  }

  private static Wants sidecar(String name, int cores) {
    return new Wants(name, ContainerKind.SIDECAR, cores, 10L * cores);
  }

  /** node-agent.md 14: app 10 with sidecar 5 and init 30 on one card. */
  @Test
  void aSidecarRunsBesideTheLargestInit() {
    assertThat(of(pod("p", CARD, init("i", 30), sidecar("s", 5), app("a", 10))))
        .isEqualTo(new Use(2, 35, 350));
  }

  /** node-agent.md 14: inits of 30 and 20, app of 25. */
  @Test
  void sequentialInitsDoNotAddUp() {
    assertThat(of(pod("p", CARD, init("i", 30), init("j", 20), app("a", 25))).cores())
        .isEqualTo(30);
  }

  @Test
  void podsAddUpUntilTheyEnd() {
    NodePod p = pod("p", CARD, app("a", 10));
    NodePod q = pod("q", CARD, app("a", 20));
    assertThat(of(p, q).cores()).isEqualTo(30);
    assertThat(of(p, Pods.phase(q, "Succeeded")).cores()).isEqualTo(10);
    assertThat(of(Pods.phase(p, "Failed")).cores()).isZero();
  }

  @Test
  void whatIsNotSealedForThisPodCountsNothing() {
    NodePod p = pod("p", CARD, app("a", 10));
    assertThat(of(p).cores()).isEqualTo(10);
    String more = p.annotation(Names.DEFAULT.preAllocated()).replace("_10_", "_90_");
    assertThat(of(Pods.annotated(p, Names.DEFAULT.preAllocated(), more)).cores()).isZero();
    assertThat(of(Pods.annotated(p, Names.DEFAULT.preAllocated(), "nonsense")).cores()).isZero();
  }

  @Test
  void thoseThatRunNowAreCountedApart() {
    NodePod p = pod("p", CARD, app("a", 10), app("b", 10));
    assertThat(reservations.of(List.of(p)).running()).isEmpty();
    assertThat(reservations.of(List.of(Pods.running(p, "b"))).running()).containsEntry(CARD, 1);
  }

  /** node-agent.md 7.4: from the allocation to the end of the pod, inits only while they run. */
  @Test
  void containersAreShownAsLongAsTheirPodLives() {
    Pods pods = new Pods();
    PodScope scope = new PodScope(pods);
    NodePod p = pod("p", CARD, init("i", 10), app("a", 10));
    ContainerRef app = new ContainerRef(p.ref(), "a");
    ContainerRef init = new ContainerRef(p.ref(), "i");
    pods.synced(false);
    assertThat(scope.test(app)).as("nobody has told yet").isTrue();
    pods.synced(true);
    assertThat(scope.test(app)).as("gone").isFalse();
    pods.put(p);
    assertThat(scope.test(app)).as("before it runs").isTrue();
    assertThat(scope.test(init)).isFalse();
    pods.put(Pods.running(p, "i"));
    assertThat(scope.test(init)).isTrue();
    pods.put(Pods.phase(p, "Succeeded"));
    assertThat(scope.test(app)).isFalse();
  }
}
