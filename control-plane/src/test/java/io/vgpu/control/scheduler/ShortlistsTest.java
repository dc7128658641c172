package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.Left;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.PlacementPolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Filter names the best of those that fit, and nothing is lost by the others. */
class ShortlistsTest {
  private ClusterState state = empty();
  private Alignments alignments = new Alignments(state.siblings());
  private final List<String> names = new ArrayList<>();

  private static ClusterState empty() {
    return new ClusterState(
        new ClaimReader(() -> ClaimSeal.parse("0123456789abcdef0123")), 0, () -> 1, Nodes.QUIET);
  }

  /** A new one for each try: jqwik keeps the instance. */
  private Allocator cluster(Random random, int nodes) {
    state = empty();
    alignments = new Alignments(state.siblings());
    names.clear();
    WorkloadModel model = QuickRankingTest.model(random);
    TreeSet<String> distinct = new TreeSet<>();
    for (int i = 0; i < nodes; i++) {
      distinct.add("n" + random.nextInt(1000));
    }
    distinct.forEach(name -> QuickRankingTest.fill(state, name, random));
    state.publish();
    names.addAll(distinct);
    Collections.shuffle(names, random);
    return new Allocator(new Policies(() -> model));
  }

  private FilterVerb filter(Allocator allocator, int most) {
    return new FilterVerb(
        allocator,
        alignments,
        new ExtenderJson(Names.DEFAULT, true),
        new Shortlists(most, allocator),
        0,
        () -> 1);
  }

  private ExtenderArgs args(PodRequest pod, List<String> about, boolean soft) {
    return new ExtenderArgs(
        new PodRecord(pod, null, false, false, null, null),
        NameList.of(about),
        null,
        List.of(),
        soft);
  }

  private Judged judged(FilterVerb filter, PodRequest pod, boolean soft) {
    return (Judged) filter.run(args(pod, names, soft), state.snapshot());
  }

  @Property(tries = 1000)
  void namesThoseThatPrioritizeWouldRankFirst(@ForAll long seed) {
    Random random = new Random(seed);
    Allocator allocator = cluster(random, 1 + random.nextInt(80));
    PodRequest pod = QuickRankingTest.pod(random);
    int most = 1 + random.nextInt(50);
    Judged all = judged(filter(allocator, 0), pod, false);

    Judged some = judged(filter(allocator, most), pod, false);

    // plans of all nodes, deep looks at the best: the order that prioritize is held to
    List<String> order =
        new NodeRanking(allocator::assess)
                .rank(
                    pod,
                    state.snapshot().all().stream()
                        .map(n -> n.standing(pod.pod().uid(), 1, true))
                        .toList(),
                    allocator.nodePolicy(pod),
                    () -> new Left().of(state.snapshot().all()))
                .stream()
                .map(Assessed::node)
                .map(Standing::node)
                .map(NodeView::name)
                .toList();
    int wanted = Math.max(most, allocator.nodePolicy(pod).deepNodes());
    assertThat(some.offered()).hasSameElementsAs(order.subList(0, Math.min(wanted, order.size())));
    assertThat(some.offered()).as("in the order of the question").isSubsetOf(names);
    assertThat(some.refused()).isEqualTo(all.refused());
    assertThat(some.fits()).isEqualTo(all.fits()).isEqualTo(order.size());
    if (some.shortlist().size() < some.fits()) {
      assertThat(some.shortlist().others()).isEqualTo(wanted + " better ones were");
      assertThat(some.shortlist().next().stream().map(i -> some.asked().names().get(i)))
          .as("the nearest to be named")
          .containsExactlyElementsOf(
              order.subList(wanted, Math.min(order.size(), wanted + Shortlist.REMEMBERED)));
    }
    if (!order.isEmpty()) {
      PrioritizeVerb prioritize =
          new PrioritizeVerb(
              allocator, alignments, filter(allocator, most), PlacementPolicy.FORESIGHT, () -> 1);
      assertThat(
              prioritize
                  .run(pod, args(pod, some.offered(), false), state.snapshot())
                  .best()
                  .getFirst()
                  .node())
          .isEqualTo(order.getFirst());
    }
  }

  @Property(tries = 300)
  void withoutAPolicyTheFittestTakeTurns(@ForAll long seed) {
    Random random = new Random(seed);
    Allocator allocator = cluster(random, 1 + random.nextInt(60));
    String mode = List.of("none", "numa", "link").get(random.nextInt(3));
    PodRequest pod =
        Pods.of(1 + random.nextInt(2), 5, 1024)
            .with(Pods.NAMES.deviceTopologyMode(), mode)
            .request();
    int most = 1 + random.nextInt(20);
    Judged all = judged(filter(allocator, 0), pod, false);
    FilterVerb filter = filter(allocator, most);
    Set<String> ever = new HashSet<>();
    for (int turn = 0; turn < names.size(); turn++) {
      Judged some = judged(filter, pod, false);
      assertThat(new HashSet<>(some.offered())).hasSize(Math.min(most, all.fits()));
      assertThat(all.offered()).containsAll(some.offered());
      assertThat(some.refused()).isEqualTo(all.refused());
      Set<String> others = new HashSet<>(all.offered());
      some.offered().forEach(others::remove);
      assertThat(some.offered().stream().mapToInt(n -> fitness(allocator, pod, n)).min().orElse(9))
          .isGreaterThanOrEqualTo(
              others.stream().mapToInt(n -> fitness(allocator, pod, n)).max().orElse(0));
      some.shortlist().next().stream()
          .map(i -> some.asked().names().get(i))
          .forEach(n -> assertThat(others).contains(n));
      ever.addAll(some.offered());
    }
    // the fitness of the last one named: all that have it, or more, had their turn
    int least =
        judged(filter, pod, false).offered().stream()
            .mapToInt(n -> fitness(allocator, pod, n))
            .min()
            .orElse(0);
    assertThat(ever)
        .containsExactlyInAnyOrderElementsOf(
            all.offered().stream().filter(n -> fitness(allocator, pod, n) >= least).toList());
  }

  private int fitness(Allocator allocator, PodRequest pod, String node) {
    return allocator.fitness(pod, state.snapshot().node(node).orElseThrow());
  }

  @Property(tries = 20)
  void aPodWithWishesOfItsOwnIsShownAll(@ForAll long seed) {
    Random random = new Random(seed);
    Allocator allocator = cluster(random, 60);
    PodRequest pod = Pods.of(1, 5, 1024).node("binpack").request();
    Judged shown = judged(filter(allocator, 3), pod, true);
    assertThat(shown.offered()).hasSize(shown.fits()).hasSizeGreaterThan(3);
  }
}
