package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.TestPod.Want;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.agent.kubelet.FakeKubelet.Result.Admitted;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodRef;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Long random lives of a node: pods of every shape come, run, end, are refused, are made again
 * under one name; agent and kubelet restart, checkpoints are lost, the kubelet's port falls silent.
 * Always: a container gets the cards of its own pod's claim, and no id serves two pods at once.
 */
class AdmissionBurstTest {
  private static final int STEPS = 120;

  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 0})
  void everyPodGetsItsOwnClaim(long given) throws Exception {
    long seed = given == 0 ? System.nanoTime() : given;
    System.out.println("seed " + seed);
    Rig rig = new Rig(dir.resolve("s" + given).toAbsolutePath());
    try {
      rig.startAgent();
      new Life(rig, new Random(seed), seed).live();
    } finally {
      rig.close();
    }
  }

  private static final class Life {
    private final Rig rig;
    private final Random random;
    private final long seed;
    private final Map<String, TestPod> running = new HashMap<>();

    /** What was handed out and not taken back, by id: the truth that the kubelet may forget. */
    private final Map<String, String> inUse = new HashMap<>();

    private int made;
    private int admitted;

    Life(Rig rig, Random random, long seed) {
      this.rig = rig;
      this.random = random;
      this.seed = seed;
    }

    void live() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(20)) {
          case 0 -> rig.stopAgent().startAgent();
          case 1 -> restartKubelet();
          case 2 -> rig.kubelet.loseCheckpoint();
          case 3 -> rig.kubeletPortAnswers = random.nextBoolean();
          case 4, 5, 6, 7 -> end();
          case 8 -> sameNameAgain();
          default -> admit(TestPod.of(new PodRef("ns", "p" + made, "uid-" + made++), shape()));
        }
      }
      assertThat(admitted).as("seed " + seed).isGreaterThan(STEPS / 6);
    }

    private void restartKubelet() throws Exception {
      rig.kubelet.kill();
      rig.kubelet.start();
      rig.kubelet.nextRegistration();
      rig.kubelet.nextList();
    }

    private void admit(TestPod pod) throws Exception {
      Result result = rig.run(pod);
      if (result instanceof Admitted) {
        admitted++;
        check(pod);
        running.put(pod.ref().uid(), rig.started(pod));
      } else {
        rig.bind(pod.in("Failed", List.of()));
        if (random.nextBoolean()) {
          rig.gone(pod);
        }
      }
    }

    private void check(TestPod pod) {
      for (ContainerDemand c : pod.demand().vgpuContainers()) {
        Set<String> ids = rig.kubelet.held(pod.ref().uid(), c.name());
        assertThat(Rig.cards(ids))
            .as("seed %d, %s/%s", seed, pod.ref(), c.name())
            .isEqualTo(pod.claimed(c.name()));
        for (String id : ids) {
          String before = inUse.put(id, pod.ref().uid());
          assertThat(before == null || before.equals(pod.ref().uid()))
              .as("seed %d: id %s of %s is given to %s", seed, id, before, pod.ref())
              .isTrue();
        }
        assertThat(rig.shim.of(pod.ref().uid(), c.name())).hasSize((int) c.number());
      }
    }

    private void end() {
      if (running.isEmpty()) {
        return;
      }
      List<String> uids = new ArrayList<>(running.keySet());
      Collections.sort(uids);
      TestPod pod = running.remove(uids.get(random.nextInt(uids.size())));
      if (pod == null) {
        throw new IllegalStateException("a pod that runs is known");
      }
      inUse.values().removeIf(uid -> uid.equals(pod.ref().uid()));
      if (random.nextBoolean()) {
        rig.bind(pod.in("Succeeded", List.of("app")));
        rig.kubelet.forget(pod.ref().uid());
      }
      rig.gone(pod);
    }

    /** Force-deleted and made again while the kubelet still admits the old one. */
    private void sameNameAgain() throws Exception {
      if (!rig.kubeletPortAnswers) {
        return; // without the kubelet's own view this cannot be told (identity-facts.md 1)
      }
      TestPod old = TestPod.of(new PodRef("ns", "n" + made, "uid-" + made++), shape());
      TestPod fresh = TestPod.of(new PodRef("ns", old.ref().name(), "uid-" + made++), shape());
      rig.pods.put(old.ref().uid(), old);
      rig.watch.gone(old.node());
      rig.bind(fresh);
      if (rig.kubelet.admit(old.ref(), old.demand()) instanceof Admitted) {
        check(old);
      }
      rig.kubelet.remove(old.ref().uid());
      inUse.values().removeIf(uid -> uid.equals(old.ref().uid()));
      admit(fresh);
    }

    /** Containers whose later ones ask for as many as their inits, of the same cards, or more. */
    private List<Want> shape() {
      List<Integer> cards = new ArrayList<>(IntStream.range(0, 8).boxed().toList());
      Collections.shuffle(cards, random);
      List<Want> wants = new ArrayList<>();
      int app = 1 + random.nextInt(3);
      if (random.nextInt(3) == 0) {
        int init = 1 + random.nextInt(app);
        wants.add(new Want("init", ContainerKind.INIT, List.copyOf(cards.subList(0, init))));
      }
      boolean sidecarFirst = random.nextInt(5) == 0 && wants.isEmpty();
      if (sidecarFirst) {
        wants.add(new Want("side", ContainerKind.SIDECAR, List.of(cards.get(7))));
      }
      wants.add(new Want("app", ContainerKind.APP, List.copyOf(cards.subList(0, app))));
      if (random.nextInt(4) == 0) {
        wants.add(new Want("second", ContainerKind.APP, List.of(cards.get(5))));
      }
      return wants;
    }
  }
}
