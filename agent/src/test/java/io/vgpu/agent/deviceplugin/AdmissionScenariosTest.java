package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static io.vgpu.agent.deviceplugin.TestPod.sidecar;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kube.FakeApiServer.Write;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.event.VgpuEvent.AllocationFailed;
import io.vgpu.event.VgpuEvent.ClaimAttached;
import io.vgpu.model.Reason;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who is admitted and what it gets: the cases of identity-facts.md 1 to 3 and node-agent.md 14. */
class AdmissionScenariosTest extends RigTest {
  @Test
  void registersWithItsOptionsAndListsEverySlotOfEveryCard() throws Exception {
    rig.startUnregistered();
    var registration = rig.kubelet.nextRegistration();
    assertThat(registration.getVersion()).isEqualTo("v1beta1");
    assertThat(registration.getEndpoint()).isEqualTo("nvidia-vgpu.sock");
    assertThat(registration.getResourceName()).isEqualTo("nvidia.com/vgpu-number");
    assertThat(registration.getOptions().getPreStartRequired()).isTrue();
    assertThat(registration.getOptions().getGetPreferredAllocationAvailable()).isTrue();
    assertThat(rig.kubelet.nextList())
        .hasSize(32)
        .containsEntry(FixedInventory.uuid(0) + "::0", "Healthy")
        .containsEntry(FixedInventory.uuid(7) + "::3", "Healthy");
    assertThat(rig.plugin().missing()).isEmpty();
  }

  @Test
  void twoPodsAdmittedInAnotherOrderThanTheyWereBoundGetEachItsOwnClaim() throws Exception {
    rig.startAgent();
    TestPod x = rig.bind(TestPod.of("x", app("main", 1)));
    TestPod y = rig.bind(TestPod.of("y", app("main", 2)));
    gotItsClaim(y, rig.kubelet.admit(y.ref(), y.demand()));
    gotItsClaim(x, rig.kubelet.admit(x.ref(), x.demand()));
  }

  @Test
  void theAnswerCarriesIdentityCardsAndMountsAndNoLimits() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("driver", 3, 1));
    Admitted admitted = (Admitted) rig.run(pod);
    var answer = admitted.answers().values().iterator().next();
    assertThat(answer.getEnvsMap())
        .isEqualTo(
            Map.of(
                "VGPU_POD_NAME", "p",
                "VGPU_POD_NAMESPACE", "ns",
                "VGPU_POD_UID", "uid-p",
                "VGPU_CONTAINER_NAME", "driver",
                "NVIDIA_VISIBLE_DEVICES", FixedInventory.uuid(1) + "," + FixedInventory.uuid(3)));
    assertThat(answer.getMountsList())
        .extracting(m -> m.getContainerPath() + " < " + m.getHostPath() + " " + m.getReadOnly())
        .containsExactly(
            "/etc/vgpu-manager/driver/libvgpu-control.so < /etc/vgpu-manager/libvgpu-control.so.1 true",
            "/etc/ld.so.preload < /etc/vgpu-manager/ld.so.preload true",
            "/etc/vgpu-manager/driver_ < /host/etc/uid-p_driver true",
            "/etc/vgpu-manager/driver_/usage < /host/run/uid-p_driver/usage false",
            "/etc/vgpu-manager/driver_/usage.lock < /host/run/uid-p_driver/usage.lock false");
  }

  /** 13-30: to be known by the agent a container needs one socket, and nothing of the host. */
  @Test
  void whereProcessesRegisterTheSocketsDirectoryIsMountedReadOnlyAndNothingElse() throws Exception {
    rig.registry = Optional.of(Path.of("/host/etc/registry"));
    rig.startAgent();
    Admitted admitted = (Admitted) rig.run(TestPod.of("p", app("registry", 3)));
    assertThat(admitted.answers().values().iterator().next().getMountsList())
        .hasSize(6)
        .extracting(m -> m.getContainerPath() + " < " + m.getHostPath() + " " + m.getReadOnly())
        .contains(
            "/etc/vgpu-manager/registry_ < /host/etc/uid-p_registry true",
            "/etc/vgpu-manager/registry < /host/etc/registry true")
        .noneMatch(m -> m.contains("proc"));
  }

  @Test
  void afterTheLastContainerOnePatchSaysWhatWasGiven() throws Exception {
    rig.startAgent();
    rig.api.failNext(3);
    TestPod pod = TestPod.of("p", sidecar("side", 0), app("main", 1));
    gotItsClaim(pod, rig.run(pod));
    Write write = rig.api.next("/pods/p");
    assertThat(write.method()).isEqualTo("PATCH");
    assertThat(write.body())
        .isEqualTo(
            "{\"metadata\":{\"uid\":\"uid-p\",\"annotations\":{\"nvidia.com/real-allocated\":\""
                + pod.annotations().get(TestPod.NAMES.preAllocated())
                + "\"},\"labels\":{\"nvidia.com/assigned-phase\":\"succeed\","
                + "\"nvidia.com/metrics-node\":\"gpu-1\"}}}")
        .as("one patch, and no more");
    assertThat(rig.fact(ClaimAttached.class))
        .extracting(f -> f.container().container())
        .isEqualTo("side");
    assertThat(rig.fact(ClaimAttached.class))
        .extracting(f -> f.container().container())
        .isEqualTo("main");
  }

  @Test
  void initContainersComeFirstAndTheirIdsServeLaterOnes() throws Exception {
    rig.startAgent();
    TestPod same = TestPod.of("same", init("i", 0, 1), app("main", 0, 1));
    gotItsClaim(same, rig.run(same));
    assertThat(rig.kubelet.asked).as("no question for the app").hasSize(1);
    TestPod more = TestPod.of("more", init("i", 2), app("main", 2, 3));
    gotItsClaim(more, rig.run(more));
    assertThat(rig.kubelet.asked.getLast().getMustIncludeDeviceIDsList())
        .containsExactlyElementsOf(rig.kubelet.held("uid-more", "i"));
    TestPod chain =
        TestPod.of(
            "chain", init("a", 4), sidecar("s", 4), init("b", 5), app("main", 5), app("two", 6));
    gotItsClaim(chain, rig.run(chain));
    TestPod onlyInit = TestPod.of("only-init", init("a", 6), app("plain"));
    gotItsClaim(onlyInit, rig.run(onlyInit));
    TestPod next = TestPod.of("next", app("main", 7));
    gotItsClaim(next, rig.run(next));
  }

  @Test
  void anAppThatAsksForFewerThanItsInitIsRefused() throws Exception {
    rig.startAgent();
    refused(rig.run(TestPod.of("p", init("i", 0, 1), app("main", 0))), Reason.DEMAND_INVALID);
  }

  @Test
  void whatIsNotTheSchedulersIsRefusedWithItsReasonAndMadeKnown() throws Exception {
    rig.startAgent();
    TestPod good = TestPod.of("good", app("main", 0));
    String claim = TestPod.NAMES.preAllocated();
    String other = TestPod.of("z", app("main", 5)).annotations().get(claim);
    refused(
        rig.run(TestPod.of("edited", app("main", 0)).annotated(claim, String.valueOf(other))),
        Reason.CLAIM_FORGED);
    refused(
        rig.run(TestPod.of("unsealed", app("main", 0)).without(TestPod.NAMES.claimHmac())),
        Reason.CLAIM_FORGED);
    refused(
        rig.run(
            TestPod.of("copied", app("main", 0))
                .annotated(
                    TestPod.NAMES.claimHmac(),
                    String.valueOf(good.annotations().get(TestPod.NAMES.claimHmac())))),
        Reason.CLAIM_FORGED);
    refused(rig.run(TestPod.of("none", app("main", 0)).without(claim)), Reason.CLAIM_MISSING);
    refused(
        rig.run(TestPod.of("bad", app("main", 0)).annotated(claim, "main[0_GPU")),
        Reason.CLAIM_MALFORMED);
    refused(
        rig.run(
            TestPod.of("elsewhere", app("main", 0)).annotated(TestPod.NAMES.predicateNode(), "n9")),
        Reason.CLAIM_OTHER_NODE);
    AllocationFailed fact = rig.fact(AllocationFailed.class);
    assertThat(fact.pod().name()).isEqualTo("edited");
    assertThat(fact.reason()).isEqualTo(Reason.CLAIM_FORGED);
    Write write = rig.api.next("/pods/edited");
    assertThat(write.body())
        .isEqualTo(
            "{\"metadata\":{\"uid\":\"uid-edited\",\"labels\":{\"nvidia.com/assigned-phase\":\"failed\","
                + "\"nvidia.com/metrics-node\":null}}}");
    assertThat(rig.shim.files).as("nothing was written").isEmpty();
    gotItsClaim(good, rig.run(good));
  }

  @Test
  void aCountThatDiffersFromTheClaimIsRefused() throws Exception {
    rig.startAgent();
    TestPod one = TestPod.of("p", app("main", 0));
    TestPod two = TestPod.of("p", app("main", 0, 1));
    TestPod lies =
        new TestPod(
            two.ref(),
            two.demand(),
            one.annotations(),
            Map.of(),
            "Pending",
            false,
            Set.of(),
            false);
    refused(rig.run(lies), Reason.DEVICE_COUNT_MISMATCH);
  }

  @Test
  void idsThatWereNotProposedAreRefused() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    for (List<String> ids :
        List.of(
            List.of(FixedInventory.uuid(3) + "::1"),
            List.of("nonsense"),
            List.<String>of(),
            List.copyOf(rig.kubelet.held("uid-p", "main")))) {
      assertThat(rig.kubelet.allocateUnasked(ids))
          .startsWith("Allocate check failed: " + Reason.DEVICES_NOT_PROPOSED.phrase());
    }
  }

  @Test
  void aRefusedPodThatIsListedAgainDoesNotHideTheNextOne() throws Exception {
    rig.startAgent();
    TestPod bad = TestPod.of("bad", app("main", 0)).without(TestPod.NAMES.claimHmac());
    refused(rig.run(bad), Reason.CLAIM_FORGED);
    rig.bind(bad.terminating());
    TestPod good = TestPod.of("good", app("main", 0));
    gotItsClaim(good, rig.run(good));
  }

  @Test
  void withTwoCandidatesLeftNobodyIsGuessed() throws Exception {
    rig.startAgent();
    TestPod a = rig.bind(TestPod.of("a", app("main", 0)));
    rig.kubelet.admitWithoutPlugin(a.ref(), a.demand());
    refused(rig.run(TestPod.of("b", app("main", 1))), Reason.POD_AMBIGUOUS);
    // whoever it was, both are behind the kubelet now
    TestPod next = TestPod.of("next", app("main", 1));
    gotItsClaim(next, rig.run(next));
  }

  @Test
  void aNameThatIsUsedAgainIsAnsweredByTheKubeletsUid() throws Exception {
    rig.startAgent();
    TestPod old = TestPod.of("p", app("main", 0));
    rig.pods.put(old.ref().uid(), old);
    rig.watch.gone(old.node());
    TestPod fresh = rig.bind(old.again("uid-2", app("main", 1)));
    // the API has the new pod, the kubelet still admits the old one
    gotItsClaim(old, rig.kubelet.admit(old.ref(), old.demand()));
    rig.kubelet.remove(old.ref().uid());
    gotItsClaim(fresh, rig.kubelet.admit(fresh.ref(), fresh.demand()));
  }

  @Test
  void withoutTheKubeletsPortDeletedPodsAreRemembered() throws Exception {
    rig.kubeletPortAnswers = false;
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 2));
    rig.watch.changed(pod.node());
    rig.watch.gone(pod.node());
    gotItsClaim(pod, rig.kubelet.admit(pod.ref(), pod.demand()));
  }

  @Test
  void withoutTheKubeletsPortALateWatchIsHelpedByOneGet() throws Exception {
    rig.kubeletPortAnswers = false;
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 2));
    rig.gettable.put("ns/p", pod);
    gotItsClaim(pod, rig.kubelet.admit(pod.ref(), pod.demand()));
  }

  @Test
  void whichOfTwoContainersThatUseTheSameIdsIsForgottenIsNotGuessed() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 0), init("j", 0), app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    assertThat(rig.kubelet.allocateUnasked(rig.kubelet.held("uid-p", "i")))
        .startsWith("Allocate check failed: " + Reason.POD_AMBIGUOUS.phrase());
  }

  @Test
  void preStartVerifiesResetsAndRefusesWithoutFailingThePod() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 0), app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    Set<String> ids = rig.kubelet.held("uid-p", "main");
    assertThat(rig.kubelet.preStart(ids)).isEmpty();
    assertThat(rig.shim.resets.keySet()).extracting(o -> o.container()).contains("i", "main");
    assertThat(rig.kubelet.preStart(List.of(FixedInventory.uuid(5) + "::0")))
        .startsWith("PreStartContainer check failed: ");
    rig.shim.files.clear();
    assertThat(rig.kubelet.preStart(ids))
        .startsWith("PreStartContainer check failed: " + Reason.FILES_NOT_WRITTEN.phrase());
    assertThat(rig.facts).noneMatch(AllocationFailed.class::isInstance);
  }

  @Test
  void withTheGateOffIdsAreTheKubeletsOwnChoiceAndCardsStayTheClaims() throws Exception {
    rig.honor = false;
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 5), app("main", 5, 6));
    assertThat(rig.run(pod)).isInstanceOf(Admitted.class);
    assertThat(rig.shim.of("uid-p", "main")).extracting(l -> l.nvmlIndex()).containsExactly(5, 6);
    refused(
        rig.run(TestPod.of("q", app("main", 0)).without(TestPod.NAMES.claimHmac())),
        Reason.CLAIM_FORGED);
  }
}
