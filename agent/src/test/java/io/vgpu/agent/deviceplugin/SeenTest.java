package io.vgpu.agent.deviceplugin;

import static io.vgpu.agent.deviceplugin.TestPod.app;
import static io.vgpu.agent.deviceplugin.TestPod.init;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.AdmittedPod.Admitted;
import io.vgpu.agent.deviceplugin.AdmittedPod.Question;
import io.vgpu.agent.deviceplugin.Seen.Newness;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** What the kubelet's list tells by what it did not tell before. */
class SeenTest {
  private static final Question ONE = new Question(1, Set.of());

  private static PodView view(TestPod... pods) {
    return new PodView(
        Arrays.stream(pods).map(SeenTest::line).toList(),
        Arrays.stream(pods).map(TestPod::node).toList(),
        true,
        uid -> true);
  }

  private static ListedPod line(TestPod pod) {
    Map<String, Set<String>> none = new HashMap<>();
    pod.demand().containers().forEach(c -> none.put(c.name(), Set.of()));
    return new ListedPod(pod.ref().namespace(), pod.ref().name(), none);
  }

  private static Admitted answer(TestPod pod, int turn) {
    return new Admitted(pod.node(), PodEntry.turns(pod.demand()).get(turn));
  }

  /** However many wait already, and whatever their status says, the new one is asked for. */
  @Property(tries = 300)
  void whoIsNewIsTheOne(
      @ForAll @Size(max = 10) List<Boolean> started, @ForAll @IntRange(max = 9) int place) {
    List<TestPod> before =
        IntStream.range(0, started.size())
            .mapToObj(i -> TestPod.of("old-" + i, app("main", i % 8)))
            .map(p -> started.get(Integer.parseInt(p.ref().name().substring(4))) ? p.running() : p)
            .toList();
    TestPod fresh = TestPod.of("fresh", app("main", 3)).running();
    Seen seen =
        Seen.NOTHING.asked(view(before.toArray(TestPod[]::new)), Set.of(), Optional.empty(), 0);
    List<TestPod> all = new ArrayList<>(before);
    all.add(Math.min(place, before.size()), fresh);
    Outcome<Admitted> found =
        AdmittedPod.find(view(all.toArray(TestPod[]::new)), Ledger.EMPTY, seen, ONE).outcome();
    assertThat(found).isInstanceOf(Outcome.Given.class);
    assertThat(((Outcome.Given<Admitted>) found).value().pod().ref()).isEqualTo(fresh.ref());
  }

  @Example
  void whileNobodyIsNewItGoesOnWithTheLast() {
    TestPod last = TestPod.of("last", app("one", 0), app("two", 1));
    TestPod other = TestPod.of("other", app("main", 2));
    Seen seen =
        Seen.NOTHING.asked(
            view(last, other), Set.of("uid-last", "uid-other"), Optional.of(answer(last, 0)), 0);
    assertThat(seen.comesNext(answer(last, 1))).isTrue();
    assertThat(seen.comesNext(answer(last, 0))).as("it was answered for that one").isFalse();
    assertThat(seen.comesNext(answer(other, 0))).isFalse();
  }

  @Example
  void aNameThatIsUsedAgainIsNewByItsUid() {
    TestPod first = TestPod.of("p", app("main", 0));
    TestPod second = first.again("uid-2", app("main", 1));
    Seen seen = Seen.NOTHING.asked(view(first), Set.of("uid-p"), Optional.empty(), 0);
    assertThat(seen.newness(first.node(), view())).isEqualTo(Newness.OLD);
    assertThat(seen.newness(second.node(), view())).isEqualTo(Newness.NEW);
    Seen unnamed =
        Seen.NOTHING.asked(
            new PodView(List.of(line(first)), List.of(), true, uid -> true),
            Set.of(),
            Optional.empty(),
            0);
    assertThat(unnamed.newness(second.node(), view()))
        .as("who bore the name then is not known")
        .isEqualTo(Newness.PERHAPS);
  }

  /** The kubelet is behind: what it lists may be the pod of which the API knows no more. */
  @Example
  void theApiDoesNotTellOfWhichPodANameIsListed() {
    TestPod first = TestPod.of("p", app("main", 0));
    TestPod second = first.again("uid-2", app("main", 1));
    PodView ofApi = new PodView(List.of(line(first)), List.of(second.node()), false, uid -> true);
    Seen known = Seen.NOTHING.asked(view(first), Set.of(), Optional.empty(), 0);
    assertThat(known.newness(second.node(), ofApi)).isEqualTo(Newness.PERHAPS);
    Seen after = known.asked(ofApi, Set.of(), Optional.empty(), 0);
    assertThat(after.newness(second.node(), view()))
        .as("not noted as listed: it comes yet")
        .isEqualTo(Newness.NEW);
    PodView both =
        new PodView(List.of(line(first)), List.of(second.node(), first.node()), false, uid -> true);
    Seen doubtful = Seen.NOTHING.asked(both, Set.of(), Optional.empty(), 0);
    assertThat(doubtful.newness(first.node(), both)).isEqualTo(Newness.PERHAPS);
    assertThat(doubtful.newness(second.node(), both)).isEqualTo(Newness.PERHAPS);
  }

  @Example
  void aNewNameThatNobodyKnowsIsWaitedFor() {
    TestPod old = TestPod.of("old", app("main", 0), app("more", 1));
    TestPod unknown = TestPod.of("unknown", init("i", 0), app("main", 0));
    Seen seen = Seen.NOTHING.asked(view(old), Set.of("uid-old"), Optional.of(answer(old, 0)), 0);
    PodView late =
        new PodView(List.of(line(old), line(unknown)), List.of(old.node()), false, uid -> true);
    Outcome<Admitted> found = AdmittedPod.find(late, Ledger.EMPTY, seen, ONE).outcome();
    assertThat(found).isInstanceOf(Outcome.Refused.class);
    assertThat(((Outcome.Refused<Admitted>) found).reason()).isEqualTo(Reason.POD_UNKNOWN);
  }

  @Example
  void whoWaitsKeepsTheMomentAtWhichItBegan() {
    TestPod a = TestPod.of("a", app("main", 0));
    TestPod b = TestPod.of("b", app("main", 1));
    Seen first = Seen.NOTHING.asked(view(a), Set.of("uid-a"), Optional.empty(), 100);
    Seen second = first.anew(view(a, b), Set.of("uid-a", "uid-b"), 200);
    assertThat(second.waitingSince(100)).containsExactly("uid-a");
    assertThat(second.waitingSince(200)).containsExactlyInAnyOrder("uid-a", "uid-b");
    assertThat(second.last()).as("another life").isEmpty();
    Seen third = second.asked(view(a, b), Set.of("uid-b"), Optional.of(answer(b, 0)), 300);
    assertThat(third.waitingSince(300)).isEmpty();
  }

  @Example
  void namesAreKeptWithinABound() {
    Seen seen = Seen.NOTHING;
    for (int i = 0; i < 3; i++) {
      int part = i;
      seen =
          seen.asked(
              view(
                  IntStream.range(0, Seen.MAX_NAMES / 2)
                      .mapToObj(n -> TestPod.of("p" + part + "-" + n, app("main", 0)))
                      .toArray(TestPod[]::new)),
              Set.of(),
              Optional.empty(),
              0);
    }
    assertThat(seen.listed()).hasSize(Seen.MAX_NAMES);
    assertThat(seen.newness(TestPod.of("p2-0", app("main", 0)).node(), view()))
        .isEqualTo(Newness.OLD);
    assertThat(seen.newness(TestPod.of("p0-0", app("main", 0)).node(), view()))
        .as("the eldest")
        .isEqualTo(Newness.NEW);
  }
}
