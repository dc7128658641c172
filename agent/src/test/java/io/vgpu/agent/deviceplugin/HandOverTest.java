package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.agent.notes.Tenure;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One agent after the other on a node whose pods run (docs/adr/0022). */
class HandOverTest extends RigTest {
  private static final long BOUND = 60;

  private Path tenure() {
    return rig.checkpointFile().resolveSibling("tenure");
  }

  private Path socket() {
    return rig.kubelet.pluginDir().resolve(DevicePluginConfig.ENDPOINT);
  }

  private static void awaitPrepared(DevicePlugin agent) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND);
    while (!agent.standsBy() && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    assertThat(agent.standsBy()).isTrue();
    assertThat(agent.missing()).as("prepared is ready").isEmpty();
  }

  private void finished(DevicePlugin agent) throws Exception {
    Rig.done(agent.stop(() -> {}));
  }

  @Test
  @DisplayName("13-23: the next agent serves what the one before it left, and no id twice")
  void thePreparedOneServesWhenTheOtherEnds() throws Exception {
    rig.startAgent();
    TestPod before = TestPod.of("before", app("main", 0));
    gotItsClaim(before, rig.run(before));
    DevicePlugin next = rig.agent();
    Future<?> begun = next.start(() -> {});
    awaitPrepared(next);
    TestPod meanwhile = TestPod.of("meanwhile", app("main", 0));
    gotItsClaim(meanwhile, rig.run(meanwhile));
    assertThat(rig.registrations.availablePermits()).as("only one is registered").isEqualTo(1);

    rig.stopAgent();
    Rig.done(begun);
    assertThat(rig.kubelet.nextRegistration()).isNotNull();
    assertThat(rig.kubelet.nextList()).hasSize(32);
    assertThat(next.missing()).isEmpty();
    assertThat(rig.kubelet.preStart(rig.kubelet.held("uid-meanwhile", "main")))
        .as("what the other admitted starts by this one")
        .isEmpty();
    TestPod after = TestPod.of("after", app("main", 0));
    gotItsClaim(after, rig.run(after));
    Set<String> ids = new HashSet<>();
    rig.heldByKubelet().values().forEach(ids::addAll);
    assertThat(ids).hasSize(3);
    assertThat(rig.kubelet.gaps).hasSize(1);
    System.out.println("gap of a hand-over: " + rig.kubelet.gaps);
    finished(next);
    assertThat(socket()).doesNotExist();
  }

  /** While the kubelet admits: each is admitted as claimed, or rejected whole. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noIdIsGivenTwiceWhenItHappensInABurst(long seed) throws Exception {
    rig.startAgent();
    DevicePlugin next = rig.agent();
    Future<?> begun = next.start(() -> {});
    awaitPrepared(next);
    List<TestPod> pods = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      pods.add(TestPod.of("p" + i, app("main", i % 8)));
    }
    Semaphore admitted = new Semaphore(0);
    CompletableFuture<List<Result>> burst =
        CompletableFuture.supplyAsync(
            () ->
                pods.stream()
                    .map(
                        p -> {
                          Result r = rig.run(p);
                          admitted.release();
                          return r;
                        })
                    .toList());
    assertThat(admitted.tryAcquire((int) (4 * seed), BOUND, TimeUnit.SECONDS)).isTrue();
    rig.stopAgent();
    Rig.done(begun);
    List<Result> results = burst.get(BOUND, TimeUnit.SECONDS);
    rig.kubelet.nextRegistration();
    rig.kubelet.nextList();
    Set<String> ids = new HashSet<>();
    int given = 0;
    for (int i = 0; i < pods.size(); i++) {
      if (results.get(i) instanceof Admitted) {
        gotItsClaim(pods.get(i), results.get(i));
        ids.addAll(rig.kubelet.held(pods.get(i).ref().uid(), "main"));
        given++;
      }
    }
    assertThat(ids).hasSize(given);
    assertThat(given).isGreaterThanOrEqualTo((int) (4 * seed));
    TestPod after = TestPod.of("after", app("main", 7));
    gotItsClaim(after, rig.run(after));
    System.out.printf("seed %d: %d of 24 admitted, gap %s%n", seed, given, rig.kubelet.gaps);
    finished(next);
  }

  @Test
  void aPreparedOneThatEndsDisturbsNobody() throws Exception {
    rig.startAgent();
    DevicePlugin next = rig.agent();
    Future<?> begun = next.start(() -> {});
    awaitPrepared(next);
    finished(next);
    Rig.done(begun);
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    assertThat(rig.kubelet.gaps).isEmpty();
    try (var left = Files.list(rig.kubelet.pluginDir())) {
      assertThat(left.filter(f -> String.valueOf(f.getFileName()).startsWith(".")))
          .as("its socket is gone")
          .isEmpty();
    }
  }

  @Test
  @DisplayName("13-12: after one that was killed, files come back before the kubelet may ask")
  void afterOneThatDiedWithoutAWordTheNodeIsLookedAtFirst() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    rig.started(pod);
    rig.stopAgent();
    Tenure dying = new Tenure(tenure());
    assertThat(dying.await(() -> {})).isPresent();
    DevicePlugin next = rig.agent();
    Future<?> begun = next.start(() -> {});
    awaitPrepared(next);
    rig.shim.files.clear();
    dying.close();
    Rig.done(begun);
    assertThat(rig.shim.of("uid-p", "main")).hasSize(1);
    rig.kubelet.nextRegistration();
    rig.kubelet.nextList();
    finished(next);
  }

  @Test
  void anAgentThatKnowsNoHandOverIsWaitedFor() throws Exception {
    DevicePlugin next = rig.agent();
    Future<?> begun;
    try (ServerSocketChannel old = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      old.bind(UnixDomainSocketAddress.of(socket()));
      begun = next.start(() -> {});
      awaitPrepared(next);
      assertThat(rig.registrations.availablePermits()).isZero();
    }
    Rig.done(begun);
    rig.kubelet.nextRegistration();
    assertThat(rig.kubelet.nextList()).hasSize(32);
    finished(next);
  }

  @Test
  @DisplayName("D22: what was admitted is on disk when the turn ends, and nothing changes after it")
  void theTurnEndsWithTheNotesWhole() throws Exception {
    rig.startAgent();
    TestPod pod = TestPod.of("p", app("main", 0));
    gotItsClaim(pod, rig.run(pod));
    DevicePlugin old = rig.plugin();
    rig.stopAgent();
    Tenure next = new Tenure(tenure());
    assertThat(next.await(() -> {})).as("free").isPresent();
    String text = Files.readString(rig.checkpointFile());
    assertThat(text).contains("uid-p");
    rig.kubelet.remove("uid-p");
    rig.watch.gone(pod.node());
    old.podGone();
    assertThat(rig.checkpointFile()).hasContent(text);
    assertThat(rig.shim.of("uid-p", "main")).hasSize(1);
    next.close();
  }
}
