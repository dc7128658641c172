package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static io.vgpu.agent.deviceplugin.TestPod.sidecar;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.kube.FakeApiServer.Write;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.event.VgpuEvent.AllocationFailed;
import io.vgpu.event.VgpuEvent.ClaimAttached;
import io.vgpu.event.VgpuEvent.ClaimReleased;
import io.vgpu.model.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Restarts, kills, lost notes, late news, pods that come and go: nobody gets another's cards. */
class TroubleScenariosTest extends RigTest {
  @Test
  void podsThatRunWithoutDevicesAreFoundAtTheStartAndDoNotHideOthers() throws Exception {
    TestPod unserved = rig.started(TestPod.of("unserved", app("main", 0)));
    rig.kubelet.admitWithoutPlugin(unserved.ref(), unserved.demand());
    rig.markRefused = false;
    rig.startAgent();
    AllocationFailed fact = rig.fact(AllocationFailed.class);
    assertThat(fact.reason()).isEqualTo(Reason.RUNS_WITHOUT_DEVICES);
    Write write = rig.api.next("/pods/unserved");
    assertThat(write.body()).contains("\"nvidia.com/assigned-phase\":\"failed\"");
    TestPod good = TestPod.of("good", app("main", 0));
    gotItsClaim(good, rig.run(good));
  }

  @Test
  void aKubeletThatForgotAPodPassesOverItsContainersThatRun() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", sidecar("side", 0, 1), app("main", 2));
    gotItsClaim(pod, rig.run(pod));
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-p", "side"))).isEmpty();
    rig.bind(pod.in("Pending", List.of("side")));
    restartWithoutCheckpoint("uid-p/side");
    Result again = rig.kubelet.admit(pod.ref(), pod.demand());
    assertThat(((Admitted) again).answers()).containsOnlyKeys("main");
    assertThat(Rig.cards(rig.kubelet.held("uid-p", "main"))).isEqualTo(pod.claimed("main"));
  }

  @Test
  void aStartThatTheStatusDoesNotShowYetIsNotGuessedAt() throws Exception {
    rig.startAgent();
    TestPod same = TestPod.of("same", sidecar("side", 0, 1), app("main", 2, 3));
    gotItsClaim(same, rig.run(same));
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-same", "side"))).isEmpty();
    TestPod differ = TestPod.of("differ", sidecar("side", 4, 5), app("main", 6));
    gotItsClaim(differ, rig.run(differ));
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-differ", "side"))).isEmpty();
    restartWithoutCheckpoint("uid-same/side", "uid-differ/side");
    rig.kubelet.remove("uid-differ");
    refused(rig.kubelet.admit(same.ref(), same.demand()), Reason.POD_AMBIGUOUS);
    rig.bind(same.in("Failed", List.of()));
    Result told = rig.kubelet.admit(differ.ref(), differ.demand());
    assertThat(((Admitted) told).answers()).as("the number tells").containsOnlyKeys("main");
    assertThat(Rig.cards(rig.kubelet.held("uid-differ", "main"))).isEqualTo(differ.claimed("main"));
  }

  private void restartWithoutCheckpoint(String... running) throws Exception {
    rig.kubelet.kill();
    rig.kubelet.loseCheckpoint();
    rig.kubelet.running.addAll(List.of(running));
    for (String one : running) {
      rig.kubelet.remove(one.substring(0, one.indexOf('/')));
    }
    rig.kubelet.start();
    rig.kubelet.nextRegistration();
    rig.kubelet.nextList();
  }

  @Test
  void aContainerThatStartedUnaskedIsReported() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    // a kubelet without its checkpoint starts it before we are registered again
    rig.bind(pod.running());
    AllocationFailed fact = rig.fact(AllocationFailed.class);
    assertThat(fact.pod()).isEqualTo(pod.ref());
    assertThat(fact.reason()).isEqualTo(Reason.RUNS_WITHOUT_DEVICES);
  }

  @Test
  void ofAPodThatIsAdmittedAnewNoContainerIsTakenForAnother() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", sidecar("side", 0), app("main", 1));
    gotItsClaim(pod, rig.run(pod));
    rig.bind(pod.in("Pending", List.of("side")));
    rig.kubelet.loseCheckpoint();
    // the sidecar runs, so the kubelet asks for the other one only: both want one card
    TestPod rest = TestPod.of(pod.ref(), List.of(app("main", 1)));
    refused(rig.kubelet.admit(pod.ref(), rest.demand()), Reason.POD_AMBIGUOUS);
  }

  @Test
  void podsThatTheKubeletSkippedBeforeWeRegisteredAreReportedAndHideNobody() throws Exception {
    for (int i = 0; i < 3; i++) {
      TestPod skipped = rig.bind(TestPod.of("skipped-" + i, app("main", i)));
      rig.kubelet.admitWithoutPlugin(skipped.ref(), skipped.demand());
    }
    rig.startAgent();
    TestPod good = TestPod.of("good", init("i", 0), app("main", 0), app("two", 1));
    gotItsClaim(good, rig.run(good));
    assertThat(rig.fact(AllocationFailed.class).reason()).isEqualTo(Reason.RUNS_WITHOUT_DEVICES);
    assertThat(rig.fact(AllocationFailed.class).pod().name()).startsWith("skipped-");
    TestPod more = TestPod.of("more", app("main", 2));
    gotItsClaim(more, rig.run(more));
  }

  /**
   * Seen on a real node under load: the kubelet lists pods that it has rejected, the API knows
   * their successors already, and the kubelet's port does not answer in time.
   */
  @Test
  void whileTheKubeletIsBehindNoSuccessorIsTakenForAnother() throws Exception {
    TestPod one = skipped("one", 0);
    TestPod two = skipped("two", 1);
    rig.startAgent();
    TestPod first = TestPod.of("first", app("main", 2));
    gotItsClaim(first, rig.run(first));
    TestPod twoAgain = replaced(two, 3);
    rig.kubeletPortAnswers = false;
    TestPod meanwhile = TestPod.of("meanwhile", app("main", 4));
    rig.run(meanwhile); // as the API sees it: the successor's name is listed
    replaced(one, 5);
    rig.kubelet.remove(two.ref().uid());
    Result result = rig.kubelet.admit(twoAgain.ref(), twoAgain.demand());
    refused(result, Reason.POD_UNKNOWN);
    assertThat(rig.kubelet.held("uid-two-again", "main")).isEmpty();
    rig.kubeletPortAnswers = true;
    TestPod twoAtLast = replaced(twoAgain, 6);
    rig.kubelet.remove(twoAgain.ref().uid());
    gotItsClaim(twoAtLast, rig.kubelet.admit(twoAtLast.ref(), twoAtLast.demand()));
  }

  private TestPod skipped(String name, int card) {
    TestPod pod = rig.bind(TestPod.of(name, app("main", card)));
    rig.kubelet.admitWithoutPlugin(pod.ref(), pod.demand());
    return pod;
  }

  /** The API has another pod under the name; the kubelet has not heard of it. */
  private TestPod replaced(TestPod pod, int card) {
    rig.watch.gone(pod.node());
    return rig.bind(pod.again(pod.ref().uid() + "-again", app("main", card)));
  }

  @Test
  void podsThatLostTheirDevicesBeforeTheyStartedAreReported() throws Exception {
    rig.startAgent();
    TestPod waiting = TestPod.of("waiting", app("main", 0));
    gotItsClaim(waiting, rig.run(waiting));
    TestPod runs = TestPod.of("runs", app("main", 1));
    gotItsClaim(runs, rig.run(runs));
    rig.started(runs);
    rig.kubelet.kill();
    rig.kubelet.loseCheckpoint();
    rig.kubelet.start();
    rig.kubelet.nextRegistration();
    AllocationFailed fact = rig.fact(AllocationFailed.class);
    assertThat(fact.pod().name()).isEqualTo("waiting");
    assertThat(fact.reason()).isEqualTo(Reason.RUNS_WITHOUT_DEVICES);
    TestPod next = TestPod.of("next", app("main", 1));
    gotItsClaim(next, rig.run(next));
    assertThat(rig.facts)
        .as("who runs on what we noted is left alone")
        .noneMatch(AllocationFailed.class::isInstance);
  }

  @Test
  void aRateLimitedListIsAskedAgain() throws Exception {
    rig.startAgent();
    rig.kubelet.limitRate(5);
    TestPod pod = TestPod.of("p", app("main", 2));
    gotItsClaim(pod, rig.run(pod));
  }

  @Test
  void anAgentKilledBetweenProposalAndAllocateStillKnowsWhoseIdsTheyAre() throws Exception {
    rig.startAgent();
    TestPod pod = rig.bind(TestPod.of("p", app("main", 2)));
    List<String> ids = rig.kubelet.ask(pod.ref(), pod.demand(), 1);
    rig.stopAgent().startAgent();
    assertThat(rig.kubelet.allocateUnasked(ids)).isEmpty();
    assertThat(rig.shim.of("uid-p", "main")).hasSize(1);
    assertThat(rig.kubelet.preStart(ids)).isEmpty();
  }

  @Test
  void aKubeletThatForgetsAnInitContainerIsAnsweredForItAgain() throws Exception {
    rig.startAgent();
    TestPod pod = rig.bind(TestPod.of("p", init("i", 0), app("main", 0)));
    List<String> ids = rig.kubelet.ask(pod.ref(), pod.demand(), 1);
    assertThat(rig.kubelet.allocateUnasked(ids)).isEmpty();
    // killed before it noted our answer: it begins the pod anew
    gotItsClaim(pod, rig.kubelet.admit(pod.ref(), pod.demand()));
    TestPod inits = rig.bind(TestPod.of("inits", init("i", 3), app("plain")));
    assertThat(rig.kubelet.allocateUnasked(rig.kubelet.ask(inits.ref(), inits.demand(), 1)))
        .isEmpty();
    gotItsClaim(inits, rig.kubelet.admit(inits.ref(), inits.demand()));
  }

  @Test
  void aKubeletThatForgetsAnAppThatUsesTheIdsOfItsInitIsAnsweredAgain() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 0, 1), app("main", 0, 1));
    gotItsClaim(pod, rig.run(pod));
    rig.facts.clear();
    // it knows what it gave to the init container, so it asks nothing
    assertThat(rig.kubelet.allocateUnasked(rig.kubelet.held("uid-p", "i"))).isEmpty();
    assertThat(rig.fact(ClaimAttached.class).container().container()).isEqualTo("main");
  }

  @Test
  void idsOfRunningContainersAreNotGivenOutWhenTheKubeletLostItsCheckpoint() throws Exception {
    rig.startAgent();
    for (int i = 0; i < 3; i++) {
      TestPod pod = TestPod.of("old-" + i, app("main", 0));
      gotItsClaim(pod, rig.run(pod));
      rig.started(pod);
    }
    Set<String> inUse = new TreeSet<>();
    rig.heldByKubelet().values().forEach(inUse::addAll);
    rig.kubelet.loseCheckpoint();
    TestPod fresh = TestPod.of("fresh", app("main", 0));
    gotItsClaim(fresh, rig.run(fresh));
    assertThat(inUse).doesNotContainAnyElementsOf(rig.kubelet.held("uid-fresh", "main"));
    // the fourth slot is taken now: one more must be refused though the kubelet offers all
    refused(rig.run(TestPod.of("more", app("main", 0))), Reason.CLAIM_UNSATISFIABLE);
  }

  @Test
  void aLostCheckpointOfOursIsRebuiltFromTheKubelet() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 0), app("main", 0, 1));
    gotItsClaim(pod, rig.run(pod));
    rig.started(pod);
    Set<String> ids = rig.kubelet.held("uid-p", "main");
    rig.stopAgent();
    Files.writeString(rig.checkpointFile(), "{\"version\":1,\"sha256\":\"00\"}\n{}\n");
    rig.shim.files.clear();
    rig.startAgent();
    assertThat(rig.managerFiles()).anyMatch(f -> f.toString().contains(".corrupt-"));
    assertThat(rig.shim.of("uid-p", "main")).as("region files are back").hasSize(2);
    assertThat(rig.kubelet.preStart(ids)).isEmpty();
    assertThat(rig.facts)
        .as("nobody is called unserved")
        .noneMatch(AllocationFailed.class::isInstance);
    rig.kubelet.loseCheckpoint();
    TestPod other = TestPod.of("other", app("main", 0));
    gotItsClaim(other, rig.run(other));
    assertThat(ids).doesNotContainAnyElementsOf(rig.kubelet.held("uid-other", "main"));
  }

  @Test
  @DisplayName("13-12: a reboot takes the files of pods that live on, and they come back")
  void regionFilesAreThereAgainBeforeTheKubeletMayAsk() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    rig.started(pod);
    rig.stopAgent();
    rig.shim.files.clear(); // a reboot: the tmpfs is empty
    rig.startUnregistered();
    assertThat(rig.shim.of("uid-p", "main")).hasSize(1);
  }

  @Test
  void aKubeletThatRestartsFindsUsAgain() throws Exception {
    rig.startAgent();
    TestPod before = TestPod.of("before", app("main", 0));
    gotItsClaim(before, rig.run(before));
    rig.kubelet.kill();
    rig.kubelet.start();
    assertThat(rig.kubelet.nextRegistration()).isNotNull();
    assertThat(rig.kubelet.nextList()).hasSize(32);
    TestPod after = TestPod.of("after", app("main", 0));
    gotItsClaim(after, rig.run(after));
    assertThat(rig.registrations.tryAcquire(2, 20, TimeUnit.SECONDS))
        .as("told of each registration")
        .isTrue();
  }

  @Test
  void aRemovedSocketIsMadeAgain() throws Exception {
    rig.startAgent();
    Path socket = rig.kubelet.pluginDir().resolve("nvidia-vgpu.sock");
    Files.delete(socket);
    assertThat(rig.kubelet.nextRegistration()).isNotNull();
    assertThat(socket).exists();
    assertThat(rig.kubelet.nextList()).hasSize(32);
  }

  @Test
  void aSickCardIsToldAndAHealthyOneAgain() throws Exception {
    rig.startAgent();
    rig.inventory.sick(1, true);
    rig.bus.publish(
        new io.vgpu.event.VgpuEvent.GpuHealthChanged(
            java.time.Instant.EPOCH, TestPod.NODE, FixedInventory.uuid(1), false, "xid"));
    assertThat(rig.kubelet.nextList())
        .containsEntry(FixedInventory.uuid(1) + "::0", "Unhealthy")
        .containsEntry(FixedInventory.uuid(2) + "::0", "Healthy");
    refused(rig.run(TestPod.of("p", app("main", 1))), Reason.CLAIM_UNSATISFIABLE);
  }

  @Test
  void filesThatCannotBeWrittenRefuseThePod() throws Exception {
    rig.startAgent();
    rig.shim.broken = true;
    refused(rig.run(TestPod.of("p", app("main", 0))), Reason.FILES_NOT_WRITTEN);
    assertThat(rig.fact(AllocationFailed.class)).extracting(f -> f.pod().name()).isEqualTo("p");
  }

  @Test
  @DisplayName("13-56: given up when API and kubelet say so, not by age")
  void whatAPodHeldIsGivenUpWhenItIsGone() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", init("i", 0), app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    rig.gone(pod);
    assertThat(rig.fact(ClaimReleased.class)).isNotNull();
    assertThat(rig.fact(ClaimReleased.class)).isNotNull();
    assertThat(rig.shim.files).isEmpty();
    assertThat(LedgerCodec.decode(Files.readString(rig.checkpointFile())).pods()).isEmpty();
  }

  @Test
  @DisplayName("13-42: a version goes with the last container that has it, and not before")
  void oldLibrariesGoWithTheirLastContainer() throws Exception {
    rig.startAgent();
    TestPod first = TestPod.of("first", app("main", 0));
    gotItsClaim(first, rig.run(first));
    rig.stopAgent();
    rig.library = "libvgpu-control.so.2";
    rig.startAgent();
    for (int card = 1; card < 3; card++) { // when the second one goes, the first look is over
      TestPod later = TestPod.of("later-" + card, app("main", card));
      gotItsClaim(later, rig.run(later));
      rig.gone(later);
      assertThat(rig.fact(ClaimReleased.class)).isNotNull();
    }
    assertThat(rig.library("libvgpu-control.so.1")).as("starts again with it").exists();

    rig.gone(first);
    long until = System.nanoTime() + 50_000_000_000L;
    while (Files.exists(rig.library("libvgpu-control.so.1")) && System.nanoTime() < until) {
      LockSupport.parkNanos(20_000_000);
    }
    assertThat(rig.library("libvgpu-control.so.1")).doesNotExist();
    assertThat(rig.library("libvgpu-control.so.2")).exists();
  }

  @Test
  void aPodOnlyTheApiForgotKeepsWhatItHolds() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    rig.watch.gone(rig.started(pod).node());
    rig.plugin().podGone();
    TestPod other = TestPod.of("other", app("main", 1));
    gotItsClaim(other, rig.run(other));
    rig.gone(other);
    assertThat(rig.fact(ClaimReleased.class))
        .extracting(f -> f.container().pod().name())
        .isEqualTo("other");
    assertThat(rig.shim.of("uid-p", "main")).hasSize(1);
  }

  @Test
  void slotsOfFinishedPodsServeNewOnes() throws Exception {
    rig.startAgent();
    for (int i = 0; i < 12; i++) {
      TestPod pod = TestPod.of("job-" + i, app("main", 0));
      gotItsClaim(pod, rig.run(pod));
      rig.bind(pod.in("Succeeded", List.of("main")));
      rig.kubelet.forget(pod.ref().uid());
    }
  }
}
