package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NameFilter;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.ClusterShape;
import io.vgpu.control.packing.Shape;
import io.vgpu.control.packing.Weight;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The policies that look ahead: whatever they prefer, what they choose fits. */
class AheadPoliciesPropertiesTest {
  private static final WorkloadModel MODEL =
      WorkloadModel.of(
          1,
          1000,
          Map.of(
              new Shape(4000, 500, 1, NameFilter.NONE), new Weight(500, 500 * 4096.0),
              new Shape(8000, 1000, 1, NameFilter.NONE), new Weight(300, 300 * 8192.0),
              new Shape(16_000, 1000, 2, NameFilter.of("A10", null)), new Weight(150, 150 * 8192.0),
              new Shape(2000, 0, 0, NameFilter.NONE), new Weight(50, 50 * 1024.0)),
          ClusterShape.EMPTY);

  private final Allocator allocator = new Allocator(new Policies(() -> MODEL));
  private final NodeRanking ranking = new NodeRanking(allocator::assess);

  @Provide
  Arbitrary<List<Standing>> nodes() {
    Arbitrary<Use> use =
        Combinators.combine(
                Arbitraries.integers().between(0, 10),
                Arbitraries.integers().between(0, 100),
                Arbitraries.integers().between(0, 24_000))
            .as((slots, cores, memory) -> new Use(slots, cores, memory));
    return use.list()
        .ofMinSize(1)
        .ofMaxSize(4)
        .list()
        .ofMinSize(1)
        .ofMaxSize(6)
        .map(AheadPoliciesPropertiesTest::standings);
  }

  private static List<Standing> standings(List<List<Use>> used) {
    List<Standing> nodes = new ArrayList<>();
    for (List<Use> cards : used) {
      NodeView node =
          Nodes.used(
              Nodes.view("n" + nodes.size(), Nodes.alike(cards.size(), 24_000), NodeConfig.DEFAULT),
              cards.toArray(new Use[0]));
      nodes.add(node.standing("uid", 0, true));
    }
    return nodes;
  }

  @Provide
  Arbitrary<PodRequest> pods() {
    return Combinators.combine(
            Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(0, 10).map(c -> c * 10),
            Arbitraries.integers().between(0, 24_000),
            Arbitraries.of("fgd", "foresight"),
            Arbitraries.of("", "binpack", "foresight", "fgd"),
            Arbitraries.integers().between(0, 2))
        .as(
            (number, cores, memory, node, device, more) -> {
              Pods pod = Pods.of(number, cores, memory).node(node);
              for (int i = 0; i < more; i++) {
                pod.app(1, cores, memory);
              }
              return (device.isEmpty() ? pod : pod.device(device)).request();
            });
  }

  private static boolean within(Standing node, Verdict.Fits fits) {
    Standing after = node.with(fits.placement().footprint());
    return after.cards().stream()
        .filter(c -> fits.placement().footprint().cards().containsKey(c.device().uuid()))
        .allMatch(c -> c.used().within(c.total()));
  }

  @Property
  void whatIsChosenFits(@ForAll("nodes") List<Standing> nodes, @ForAll("pods") PodRequest pod) {
    for (Standing node : nodes) {
      for (Look look : Look.values()) {
        if (allocator.plan(pod, node, look) instanceof Verdict.Fits fits) {
          assertThat(within(node, fits)).as("%s on %s", pod, node).isTrue();
        }
      }
    }
  }

  @Property
  void whatFilterPromisesBindKeeps(
      @ForAll("nodes") List<Standing> nodes, @ForAll("pods") PodRequest pod) {
    for (Standing node : nodes) {
      assertThat(allocator.plan(pod, node, Look.DEEP) instanceof Verdict.Fits)
          .isEqualTo(allocator.plan(pod, node, Look.QUICK) instanceof Verdict.Fits);
    }
  }

  @Property
  void theOrderOfNodesDoesNotMatter(
      @ForAll("nodes") List<Standing> nodes, @ForAll("pods") PodRequest pod, @ForAll long seed) {
    List<Standing> shuffled = new ArrayList<>(nodes);
    Collections.shuffle(shuffled, new Random(seed));
    assertThat(ranked(pod, shuffled)).isEqualTo(ranked(pod, nodes));
  }

  private List<String> ranked(PodRequest pod, List<Standing> nodes) {
    return ranking
        .rank(pod, nodes, allocator.nodePolicy(pod), () -> Map.of("NVIDIA A10", 100_000L))
        .stream()
        .map(a -> a.node().node().name() + " " + a.score() + " " + a.footprint())
        .toList();
  }
}
