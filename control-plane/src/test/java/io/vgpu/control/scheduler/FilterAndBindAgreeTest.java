package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.scheduler.CommitDesk.Step;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.model.Use;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Over the same state filter, prioritize and bind say the same, whatever was bound before. */
class FilterAndBindAgreeTest {
  private static final List<String> NAMES = List.of("n1", "n2", "n3");

  @Property(tries = 300)
  void bindCommitsWhatFilterFound(@ForAll long seed) {
    Random random = new Random(seed);
    Allocator allocator = new Allocator(new Policies());
    ClusterState state =
        new ClusterState(
            new ClaimReader(() -> ClaimSeal.parse("0123456789abcdef0123")),
            0,
            () -> 1,
            Nodes.QUIET);
    for (String n : NAMES) {
      state.putNode(Nodes.record(n, Nodes.alike(1 + random.nextInt(4), 24000), NodeConfig.DEFAULT));
    }
    state.publish();
    Alignments alignments = new Alignments(state.siblings());
    CommitDesk desk = new CommitDesk(state, allocator, alignments, () -> 1);
    FilterVerb filter =
        new FilterVerb(
            allocator,
            alignments,
            new ExtenderJson(Names.DEFAULT, true),
            new Shortlists(0, allocator),
            0,
            () -> 1);
    PrioritizeVerb prioritize =
        new PrioritizeVerb(allocator, alignments, filter, PlacementPolicy.FORESIGHT, () -> 1);
    for (int i = 0; i < 30; i++) {
      PodRequest pod = pod(random).request("p" + i);
      ExtenderArgs args =
          new ExtenderArgs(
              new PodRecord(pod, null, false, false, null, null),
              NameList.of(NAMES),
              null,
              List.of(),
              false);
      Judged judged = (Judged) filter.run(args, state.snapshot());
      PrioritizeVerb.Scores scores = prioritize.run(pod, args, state.snapshot());
      String node = NAMES.get(random.nextInt(3));
      assertThat(scores.byName()).containsOnlyKeys(NAMES);
      switch (desk.plan(pod, node)) {
        case Step.Post post ->
            assertThat(judged.offered().contains(node) ? judged.verdict(node) : null)
                .isInstanceOfSatisfying(
                    Verdict.Fits.class,
                    fits ->
                        assertThat(post.reservation().claim()).isEqualTo(fits.placement().claim()));
        case Step.NoFit no -> {
          assertThat(judged.refused()).containsKey(node);
          assertThat(judged.verdict(node)).isEqualTo(no.refused());
        }
        case Step.Bound bound -> throw new AssertionError("nothing is bound: " + bound);
        case Step.Busy busy -> throw new AssertionError("each pod is planned once");
      }
      state
          .snapshot()
          .node(node)
          .orElseThrow()
          .cardsFor("other", 1, true)
          .forEach(c -> assertThat(c.used()).matches((Use u) -> u.within(c.total())));
    }
  }

  private static Pods pod(Random random) {
    Pods pod = new Pods().node("spread").device(random.nextBoolean() ? "binpack" : "spread");
    if (random.nextInt(4) == 0) {
      pod.init(1, random.nextInt(100), 1000L * random.nextInt(20));
    }
    return pod.app(1 + random.nextInt(2), 10L * random.nextInt(8), 1000L * random.nextInt(12));
  }
}
