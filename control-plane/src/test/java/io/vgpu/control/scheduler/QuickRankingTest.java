package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NameFilter;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.ClusterShape;
import io.vgpu.control.packing.Left;
import io.vgpu.control.packing.Shape;
import io.vgpu.control.packing.Weight;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Prioritize gives the nodes the order and the scores that plans of all of them give. */
class QuickRankingTest {
  private static final List<String> WORDS = List.of("binpack", "spread", "fgd", "foresight");

  @Property(tries = 1500)
  void ranksAsPlansDo(@ForAll long seed) {
    Random random = new Random(seed);
    WorkloadModel model = model(random);
    Allocator allocator = new Allocator(new Policies(() -> model));
    ClusterState state =
        new ClusterState(
            new ClaimReader(() -> ClaimSeal.parse("0123456789abcdef0123")),
            0,
            () -> 1,
            Nodes.QUIET);
    List<String> names = new ArrayList<>();
    for (int i = 1 + random.nextInt(40); i > 0; i--) {
      names.add("n" + random.nextInt(1000));
    }
    names = new ArrayList<>(List.copyOf(new java.util.TreeSet<>(names)));
    names.forEach(name -> fill(state, name, random));
    state.publish();
    Collections.shuffle(names, random);
    Alignments alignments = new Alignments(state.siblings());
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
    PodRequest pod = pod(random);
    ExtenderArgs args =
        new ExtenderArgs(
            new PodRecord(pod, null, false, false, null, null),
            NameList.of(names),
            null,
            List.of(),
            false);

    PrioritizeVerb.Scores scores = prioritize.run(pod, args, state.snapshot());

    List<Standing> standings =
        state.snapshot().all().stream().map(n -> n.standing(pod.pod().uid(), 1, true)).toList();
    List<Assessed> planned =
        new NodeRanking(allocator::assess)
            .rank(
                pod,
                standings,
                allocator.nodePolicy(pod),
                () -> new Left().of(state.snapshot().all()));
    assertThat(
            scores.best().stream().map(s -> s.node() + " " + s.score() + " " + s.parts()).toList())
        .isEqualTo(
            planned.stream()
                .limit(8)
                .map(
                    a ->
                        a.node().node().name()
                            + " "
                            + a.score()
                            + " "
                            + allocator.scoreParts(pod, a.node(), a.footprint()))
                .toList());
    Map<String, Integer> levels = new HashMap<>();
    names.forEach(n -> levels.put(n, 0));
    byte[] expected =
        Ranking.levels(
            Ranked.inOrder(
                IntStream.range(0, planned.size()).toArray(),
                new int[planned.size()],
                new double[planned.size()]),
            planned.size());
    for (int i = 0; i < planned.size(); i++) {
      levels.put(planned.get(i).node().node().name(), (int) expected[i]);
    }
    assertThat(scores.byName()).isEqualTo(levels);
    assertThat(scores.hold().map(FilterVerb.Hold::footprint))
        .isEqualTo(planned.stream().findFirst().map(Assessed::footprint));
  }

  static void fill(ClusterState state, String name, Random random) {
    List<GpuDevice> devices = new ArrayList<>();
    boolean alike = random.nextBoolean();
    int numa = random.nextInt(4);
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      int id = devices.size();
      devices.add(
          Nodes.card(
              id,
              random.nextInt(3) == 0 ? "NVIDIA A10" : "NVIDIA A100",
              alike ? 24_000 : 8_000L * (1 + random.nextInt(3)),
              1 + random.nextInt(5),
              numa == 0 ? -1 : id % numa - 1));
    }
    NodeRecord plain = Nodes.record(name, devices, NodeConfig.DEFAULT);
    state.putNode(
        new NodeRecord(
            name,
            plain.allocatable(),
            plain.register(),
            plain.config(),
            random.nextInt(4) == 0 ? Host.PLENTY : new Host(4000L * random.nextInt(10), 64_000)));
    for (int i = random.nextInt(5); i > 0; i--) {
      Map<io.vgpu.model.GpuUuid, Use> uses = new HashMap<>();
      for (GpuDevice d : devices) {
        if (random.nextBoolean()) {
          uses.put(d.uuid(), new Use(1, 10L * random.nextInt(5), 1000L * random.nextInt(7)));
        }
      }
      state.hold(name + "-holder-" + i, name, new Footprint(uses, new Host(2000, 1000)));
    }
  }

  static WorkloadModel model(Random random) {
    Map<Shape, Weight> weights = new HashMap<>();
    for (int i = 1 + random.nextInt(12); i > 0; i--) {
      int count = random.nextInt(4);
      weights.put(
          new Shape(
              1000 * random.nextInt(17),
              count == 0 ? 0 : 50 * (1 + random.nextInt(20)),
              count,
              random.nextInt(4) == 0 ? NameFilter.of("A10", null) : NameFilter.NONE),
          new Weight(1 + random.nextInt(500), 4096.0 * random.nextInt(500)));
    }
    return WorkloadModel.of(1, random.nextInt(5) == 0 ? 10 : 1000, weights, ClusterShape.EMPTY);
  }

  static PodRequest pod(Random random) {
    Pods pod =
        Pods.of(1 + random.nextInt(3), 5L * random.nextInt(12), 1024L * random.nextInt(9))
            .node(WORDS.get(random.nextInt(WORDS.size())));
    if (random.nextInt(4) == 0) {
      pod.device(WORDS.get(random.nextInt(WORDS.size())));
    }
    if (random.nextInt(4) == 0) {
      pod.with(Pods.NAMES.includeGpuType(), "A100");
    }
    if (random.nextInt(6) == 0) {
      pod.with(Pods.NAMES.deviceTopologyMode(), random.nextBoolean() ? "numa" : "numa-strict");
    }
    if (random.nextInt(8) == 0) {
      pod.app(1, 5, 512);
    }
    PodRequest made = pod.request();
    return random.nextBoolean()
        ? made
        : new PodRequest(
            made.pod(),
            made.resourceVersion(),
            made.demand(),
            made.wishes(),
            made.annotationBytes(),
            made.zeroNumber(),
            new Host(1000L * random.nextInt(20), 1000));
  }
}
