package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.AdmittedPod.Admitted;
import io.vgpu.agent.deviceplugin.AdmittedPod.Question;
import io.vgpu.agent.deviceplugin.Ledger.Refusal;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/** Who is being admitted, for any mixture of pods on the node (D3, identity-facts.md 1). */
class AdmittedPodPropertiesTest {
  /** What is the matter with a pod that is not the one being admitted. */
  enum Other {
    HAS_ITS_DEVICES,
    ASKS_FOR_NOTHING,
    REFUSED_BEFORE,
    RUNS_WITHOUT,
    FAILED,
    DELETING
  }

  record World(PodView view, Ledger ledger) {}

  /** The pod being admitted is found whatever else is there, wherever it stands in the list. */
  @Property(tries = 1000)
  void theOneThatWaitsIsFoundAmongAnyOthers(
      @ForAll @Size(max = 12) List<Other> others, @ForAll long seed, @ForAll boolean withInit) {
    TestPod wanted =
        withInit
            ? TestPod.of("wanted", init("i", 0), app("main", 0))
            : TestPod.of("wanted", app("main", 0));
    World world = world(others, wanted, seed);
    Outcome<Admitted> found =
        AdmittedPod.find(world.view(), world.ledger(), Seen.NOTHING, new Question(1, Set.of()))
            .outcome();
    assertThat(found).isInstanceOf(Outcome.Given.class);
    Admitted admitted = ((Outcome.Given<Admitted>) found).value();
    assertThat(admitted.pod().ref()).isEqualTo(wanted.ref());
    assertThat(admitted.turn().container()).isEqualTo(withInit ? "i" : "main");
  }

  /** Two that could both be it are never told apart by luck. */
  @Property(tries = 500)
  void twoThatCouldBeItAreRefused(@ForAll @Size(max = 8) List<Other> others, @ForAll long seed) {
    World world = world(others, TestPod.of("wanted", app("main", 0)), seed);
    TestPod twin = TestPod.of("twin", app("main", 0));
    List<ListedPod> listed = new ArrayList<>(world.view().listed());
    listed.add(line(twin, Map.of()));
    List<NodePod> pods = new ArrayList<>(world.view().pods());
    pods.add(twin.node());
    Outcome<Admitted> found =
        AdmittedPod.find(
                new PodView(listed, pods, true, uid -> true),
                world.ledger(),
                Seen.NOTHING,
                new Question(1, Set.of()))
            .outcome();
    assertThat(found).isInstanceOf(Outcome.Refused.class);
    assertThat(((Outcome.Refused<Admitted>) found).reason()).isEqualTo(Reason.POD_AMBIGUOUS);
  }

  /** The order of the lists decides nothing. */
  @Property(tries = 500)
  void orderDoesNotMatter(@ForAll("views") World world, @ForAll long seed) {
    List<ListedPod> listed = new ArrayList<>(world.view().listed());
    List<NodePod> pods = new ArrayList<>(world.view().pods());
    Collections.shuffle(listed, new Random(seed));
    Collections.shuffle(pods, new Random(~seed));
    Question question = new Question(1, Set.of());
    assertThat(
            AdmittedPod.find(
                    new PodView(listed, pods, true, uid -> true),
                    world.ledger(),
                    Seen.NOTHING,
                    question)
                .outcome())
        .isEqualTo(
            AdmittedPod.find(world.view(), world.ledger(), Seen.NOTHING, question).outcome());
  }

  @Example
  void theLastCandidateIsNeverDropped() {
    for (Other only :
        List.of(Other.REFUSED_BEFORE, Other.RUNS_WITHOUT, Other.FAILED, Other.DELETING)) {
      World world = world(List.of(only), null, 1);
      assertThat(
              AdmittedPod.find(
                      world.view(), world.ledger(), Seen.NOTHING, new Question(1, Set.of()))
                  .outcome())
          .as(only.name())
          .isInstanceOf(Outcome.Given.class);
    }
  }

  @Provide
  Arbitrary<World> views() {
    return Combinators.combine(Arbitraries.of(Other.class).list().ofMaxSize(8), Arbitraries.longs())
        .as((others, seed) -> world(others, null, seed));
  }

  private static World world(List<Other> others, @Nullable TestPod wanted, long seed) {
    List<TestPod> pods = new ArrayList<>();
    Map<String, Map<String, Set<String>>> devices = new HashMap<>();
    Ledger ledger = Ledger.EMPTY;
    for (int i = 0; i < others.size(); i++) {
      TestPod pod = TestPod.of("other-" + i, app("main", i % 8));
      switch (others.get(i)) {
        case HAS_ITS_DEVICES ->
            devices.put(
                pod.ref().name(), Map.of("main", Set.of(DeviceIds.of(FixedInventory.uuid(i), 0))));
        case ASKS_FOR_NOTHING -> pod = TestPod.of("other-" + i, app("main"), init("i"));
        case REFUSED_BEFORE ->
            ledger = ledger.withRefusal(new Refusal(pod.ref(), Reason.CLAIM_FORGED, "before"));
        case RUNS_WITHOUT -> pod = pod.running();
        case FAILED -> pod = pod.in("Failed", List.of());
        case DELETING -> pod = pod.terminating();
      }
      pods.add(pod);
    }
    if (wanted != null) {
      pods.add(wanted);
    }
    Collections.shuffle(pods, new Random(seed));
    return new World(
        new PodView(
            pods.stream()
                .map(p -> line(p, devices.getOrDefault(p.ref().name(), Map.of())))
                .toList(),
            pods.stream().map(TestPod::node).toList(),
            true,
            uid -> true),
        ledger);
  }

  private static ListedPod line(TestPod pod, Map<String, Set<String>> devices) {
    Map<String, Set<String>> all = new HashMap<>();
    for (ContainerDemand c : pod.demand().containers()) {
      if (c.kind() != ContainerKind.INIT) {
        all.put(c.name(), devices.getOrDefault(c.name(), Set.of()));
      }
    }
    return new ListedPod(pod.ref().namespace(), pod.ref().name(), all);
  }
}
