package io.vgpu.control.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Row 73 of control-plane.md 8 and what keeps the incremental state equal to a rebuilt one. */
class ClusterStateTest {
  private static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123");
  private static final ClaimSeal OTHER_SEAL = ClaimSeal.parse("another-key-another-key");
  private static final PodClaim CLAIM =
      new PodClaim(
          List.of(
              new ContainerClaim(
                  "c1",
                  List.of(
                      new DeviceClaim(
                          0, Nodes.uuid(0), new CorePercent(10), new MemoryMiB(1000))))));
  private static final Use ONE = new Use(1, 10, 1000);
  private static final Use TWO = new Use(2, 20, 2000);

  private final List<String> uncounted = new ArrayList<>();
  private final List<String> overcommitted = new ArrayList<>();
  private final List<String> badCordons = new ArrayList<>();
  private ClaimSeal keys = SEAL;
  private long now = 1;
  private final ClusterState state =
      new ClusterState(
          new ClaimReader(() -> keys),
          0,
          () -> now,
          new ClusterState.Listener() {
            @Override
            public void uncounted(PodRecord pod, String why) {
              uncounted.add(pod.uid() + ": " + why);
            }

            @Override
            public void overcommitted(String node, GpuUuid card, Use used, Use total) {
              overcommitted.add(node + "/" + card);
            }

            @Override
            public void badCordon(String node, String problem) {
              badCordons.add(node + ": " + problem);
            }
          });

  private static NodeRecord node(String name) {
    return Nodes.record(name, Nodes.u(2), NodeConfig.DEFAULT);
  }

  private static PodRecord pod(String name, String node, boolean terminal, ClaimSeal seal) {
    PodRequest request = Pods.of(1, 10, 1000).request(name);
    return new PodRecord(
        request,
        node.isEmpty() ? null : node,
        terminal,
        false,
        ClaimCodec.encode(CLAIM),
        seal.seal(request.pod().uid(), CLAIM));
  }

  private NodeView view(String node) {
    state.publish();
    return state.snapshot().node(node).orElseThrow();
  }

  private Use used(String node) {
    return view(node).cards().getFirst().used();
  }

  private Use usedFor(String pod, boolean respectHolds) {
    return view("n1").cardsFor("uid-" + pod, now, respectHolds).getFirst().used();
  }

  private Reservation reservation(String pod, String node) {
    PodRequest request = Pods.of(1, 10, 1000).request(pod);
    return new Reservation(
        request.pod(), node, CLAIM, Footprint.of(CLAIM, request.demand()), false, now + 100);
  }

  @Test
  void aPodThatSomebodyReadHoldsItsCardsUntilTheWatchSpeaks() {
    state.putNode(node("n1"));
    state.heardOf(pod("forged", "n1", false, OTHER_SEAL), now + 100);
    state.heardOf(pod("ended", "n1", true, SEAL), now + 100);
    state.heardOf(pod("waits", "", false, SEAL), now + 100);
    assertThat(usedFor("other", true)).isEqualTo(Use.ZERO);

    PodRecord unseen = pod("p", "n1", false, SEAL);
    state.heardOf(unseen, now + 100);
    assertThat(usedFor("other", true)).isEqualTo(ONE);
    state.putPod(unseen);
    assertThat(usedFor("other", true)).as("now the watch's").isEqualTo(ONE);
    state.heardOf(unseen, now + 100);
    assertThat(usedFor("other", true)).as("not twice").isEqualTo(ONE);
    state.removePod(unseen.uid());
    assertThat(usedFor("other", true)).isEqualTo(Use.ZERO);

    // it went before anybody told of it: somebody asks when its time is up
    state.heardOf(unseen, now + 100);
    now += 100;
    assertThat(state.overdue()).hasSize(1);
  }

  @Test
  void whoeverDamagesAClaimAfterTheBindFreesNoCard() {
    state.putNode(node("n1"));
    PodRecord bound = pod("p", "n1", false, SEAL);
    state.putPod(bound);
    for (String damaged : List.of("", "main[0_GPU-x_1_1]", "nonsense")) {
      state.putPod(
          new PodRecord(
              bound.request(),
              "n1",
              false,
              false,
              damaged.isEmpty() ? null : damaged,
              bound.seal()));
      assertThat(used("n1")).as("claim %s", damaged).isEqualTo(ONE);
    }
    assertThat(uncounted).hasSize(3).allMatch(u -> u.contains("changed after the bind"));
    state.putPod(pod("p", "n1", true, SEAL));
    assertThat(used("n1")).as("the pod has ended").isNotEqualTo(ONE);
  }

  @Test
  void onlyBoundLivingSealedPodsCount() {
    state.putNode(node("n1"));
    state.putPod(pod("a", "n1", false, SEAL));
    assertThat(used("n1")).isEqualTo(ONE);
    state.putPod(pod("unbound", "", false, SEAL));
    state.putPod(pod("done", "n1", true, SEAL));
    state.putPod(pod("forged", "n1", false, OTHER_SEAL));
    assertThat(used("n1")).isEqualTo(ONE);
    state.putPod(pod("forged", "n1", false, OTHER_SEAL));
    assertThat(uncounted)
        .as("reported once")
        .containsExactly("uid-forged: the seal of container c1 does not fit");
    state.putPod(pod("a", "n1", true, SEAL));
    assertThat(used("n1")).isEqualTo(Use.ZERO);
  }

  @Test
  void otherKeysMakeUncountedPodsCount() {
    state.putNode(node("n1"));
    state.putPod(pod("a", "n1", false, SEAL));
    state.putPod(pod("b", "n1", false, OTHER_SEAL));
    assertThat(used("n1")).isEqualTo(ONE);
    keys = OTHER_SEAL;
    state.readUncountedAgain();
    assertThat(used("n1")).as("what counted goes on counting").isEqualTo(TWO);
    state.removePod("uid-b");
    assertThat(used("n1")).isEqualTo(ONE);
  }

  @Test
  void aPodBoundBeforeItsNodeIsKnownCountsAtOnce() {
    state.putPod(pod("a", "n1", false, SEAL));
    state.putNode(node("n1"));
    assertThat(used("n1")).isEqualTo(ONE);
    state.removeNode("n1");
    state.publish();
    assertThat(state.snapshot().node("n1")).isEmpty();
    state.putNode(node("n1"));
    assertThat(used("n1")).isEqualTo(ONE);
  }

  @Test
  void aNewListReplacesAllButCommitsInFlight() {
    state.putNode(node("n1"));
    state.putNode(node("n2"));
    state.putPod(pod("a", "n1", false, SEAL));
    state.reserve(reservation("b", "n1"));
    state.replacePods(List.of(pod("c", "n1", false, SEAL)));
    state.replaceNodes(List.of(node("n1")));
    assertThat(used("n1")).isEqualTo(ONE);
    assertThat(usedFor("x", true)).isEqualTo(TWO);
    assertThat(state.snapshot().names()).containsExactly("n1");
  }

  @Test
  void aCommitCountsOnceBeforeAndAfterTheWatchShowsIt() {
    state.putNode(node("n1"));
    state.reserve(reservation("a", "n1"));
    assertThat(usedFor("x", true)).isEqualTo(ONE);
    assertThat(usedFor("a", true)).as("not against itself").isEqualTo(Use.ZERO);
    state.putPod(pod("a", "", false, SEAL));
    assertThat(usedFor("x", true)).isEqualTo(ONE);
    state.putPod(pod("a", "n1", false, SEAL));
    state.putPod(pod("a", "n1", false, SEAL));
    assertThat(usedFor("x", true)).isEqualTo(ONE);
    assertThat(state.inFlight()).isZero();
    state.removePod("uid-a");
    assertThat(usedFor("x", true)).isEqualTo(Use.ZERO);
  }

  @Test
  void commitsOfOnePodEndWhenOneHasWon() {
    state.putNode(node("n1"));
    state.putNode(node("n2"));
    state.reserve(reservation("a", "n1"));
    state.reserve(reservation("a", "n2"));
    assertThat(state.inFlight()).isEqualTo(2);
    state.putPod(pod("a", "n2", false, SEAL));
    assertThat(usedFor("x", true)).isEqualTo(Use.ZERO);
    assertThat(used("n2")).isEqualTo(ONE);
    assertThat(view("n2").inFlight()).isEmpty();
  }

  @Test
  void overdueCommitsAreNamed() {
    state.putNode(node("n1"));
    state.reserve(reservation("a", "n1"));
    assertThat(state.overdue()).isEmpty();
    now += 101;
    assertThat(state.overdue()).extracting(r -> r.pod().name()).containsExactly("a");
    state.release("uid-a", "n1");
    assertThat(usedFor("x", true)).isEqualTo(Use.ZERO);
  }

  @Test
  void aHoldCountsForOtherPodsForTwoSeconds() {
    state.putNode(node("n1"));
    state.hold("uid-a", "n1", Footprint.of(CLAIM, Pods.of(1, 10, 1000).request().demand()));
    now += 1_000_000_000L;
    assertThat(usedFor("x", true)).isEqualTo(ONE);
    assertThat(usedFor("x", false)).isEqualTo(Use.ZERO);
    assertThat(usedFor("a", true)).isEqualTo(Use.ZERO);
    now += 2_000_000_000L;
    assertThat(usedFor("x", true)).as("even before it is swept").isEqualTo(Use.ZERO);
    state.expireHolds();
    assertThat(view("n1").inFlight()).isEmpty();
  }

  @Test
  void holdsHaveABound() {
    state.putNode(node("n1"));
    Footprint footprint = Footprint.of(CLAIM, Pods.of(1, 10, 1000).request().demand());
    for (int i = 0; i < SoftHolds.MOST + 10; i++) {
      state.hold("uid-" + i, "n1", footprint);
    }
    assertThat(view("n1").inFlight()).hasSize(SoftHolds.MOST);
  }

  @Test
  void readersNeverSeeASnapshotChange() {
    state.putNode(node("n1"));
    state.publish();
    ClusterSnapshot before = state.snapshot();
    state.putPod(pod("a", "n1", false, SEAL));
    assertThat(state.snapshot()).isSameAs(before);
    assertThat(used("n1")).isEqualTo(ONE);
    assertThat(before.node("n1").orElseThrow().cards().getFirst().used()).isEqualTo(Use.ZERO);
  }

  @Test
  void anOvercommittedCardIsReportedOnce() {
    state.putNode(Nodes.record("n1", Nodes.alike(1, 1500), NodeConfig.DEFAULT));
    state.putPod(pod("a", "n1", false, SEAL));
    state.putPod(pod("b", "n1", false, SEAL));
    state.publish();
    state.putPod(pod("c", "n1", false, SEAL));
    state.publish();
    assertThat(overcommitted).containsExactly("n1/GPU-card-0");
  }

  @Test
  void wrongAnnotationsOfANodeHaveTheirReasons() {
    NodeRecord good = node("n1");
    assertThat(gate(new NodeRecord("n", 0, good.register(), good.config())))
        .isEqualTo("NodeNotVGPUEnabled");
    assertThat(gate(new NodeRecord("n", 1, null, good.config()))).isEqualTo("NodeNoVGPURegister");
    assertThat(gate(new NodeRecord("n", 1, "{", good.config()))).isEqualTo("NodeBadVGPURegister");
    assertThat(gate(new NodeRecord("n", 1, good.register(), ""))).isEqualTo("NodeNoVGPUConfig");
    assertThat(gate(new NodeRecord("n", 1, good.register(), "[]"))).isEqualTo("NodeBadVGPUConfig");
    assertThat(gate(config(0, 1))).isEqualTo("NodeNotVGPUEnabled");
    assertThat(gate(config(1, 0))).isEqualTo("NodeBadMemoryFactor");
    assertThat(gate(config(1, -1))).isEqualTo("NodeBadMemoryFactor");
  }

  private static NodeRecord config(int split, int factor) {
    String text =
        "{\"deviceSplit\":%d,\"coresScaling\":1,\"memoryFactor\":%d,\"memoryScaling\":1}"
            .formatted(split, factor);
    return new NodeRecord("n", 1, node("n").register(), text);
  }

  private static String gate(NodeRecord node) {
    return ((NodeOffer.NotOffered) NodeOffer.of(node)).reason().code();
  }

  @Test
  void aCordonHoldsFromTheNodesNextChangeAndTouchesNoPod() {
    state.putNode(node("n1"));
    state.putPod(pod("a", "n1", false, SEAL));
    NodeView before = view("n1");
    state.putNode(node("n1").cordoned("{\"GPU-card-0\":{\"mode\":\"cordon\"}}"));
    NodeView cordoned = view("n1");
    assertThat(before.sums().schedulable()).isEqualTo(2);
    assertThat(cordoned.sums().schedulable()).isEqualTo(1);
    assertThat(cordoned.cards().getFirst().device().cordoned()).isTrue();
    assertThat(cordoned.cards().getFirst().used()).isEqualTo(before.cards().getFirst().used());
    state.putNode(node("n1"));
    assertThat(view("n1").sums().schedulable()).isEqualTo(2);
  }

  @Test
  void whatCannotBeReadOfACordonCordonsNothingAndIsToldOnce() {
    state.putNode(
        node("n1")
            .cordoned("{\"GPU-card-0\":{\"mode\":\"drain\"},\"GPU-card-1\":{\"mode\":\"stop\"}}"));
    assertThat(view("n1").cards()).extracting(c -> c.device().cordoned()).contains(true, false);
    state.putNode(node("n1").cordoned("{"));
    assertThat(view("n1").sums().schedulable()).isEqualTo(2);
    state.putNode(
        new NodeRecord("n1", 7, node("n1").register(), node("n1").config()).cordoned("{"));
    assertThat(badCordons)
        .hasSize(2)
        .anyMatch(b -> b.contains("GPU-card-1: mode \"stop\": must be cordon or drain"))
        .anyMatch(b -> b.startsWith("n1: device-cordon: not JSON"));
  }

  @Test
  void headroomIsNeverPromised() {
    assertThat(NodeView.empty(node("n1"), 15).cards().getFirst().total().cores()).isEqualTo(85);
  }
}
