package io.vgpu.control.scheduler;

import static io.vgpu.control.scheduler.Scenario.placed;
import static io.vgpu.control.scheduler.Scenario.rejected;
import static io.vgpu.control.scheduler.Scenario.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.Use;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The rows of control-plane.md 8 that speak of one pod on one node; ids are the table's. Elsewhere:
 * 36, 37, 80 in {@link RankingScenariosTest}; 71 to 74 (their bind counterparts, D1) and the "every
 * node that fits" of row 1 in {@link ExtenderIT}. Rows of later issues, not run here: 38 to 63
 * (numa and link modes, cross-pod), 75 to 79 (preemption), 81 to 83 (dry-run), 84 (gangs).
 */
class AllocatorScenariosTest {

  private static NodeView m4() {
    return Nodes.view(Nodes.m4());
  }

  private static NodeView u1() {
    return Nodes.view(Nodes.u(1));
  }

  private static String of(int card, int cores, int memory) {
    return card + "_" + Nodes.uuid(card) + "_" + cores + "_" + memory;
  }

  private static Use use(long slots, long cores, long memory) {
    return new Use(slots, cores, memory);
  }

  static Stream<Scenario> nodes() {
    List<GpuDevice> scaled = List.of(Nodes.card(0, "NVIDIA A10", 24000, 10, -1, 200));
    NodeView halfTaken =
        Nodes.used(Nodes.view("n1", scaled, new NodeConfig(10, 2, 1, 1)), use(1, 100, 1024));
    List<GpuDevice> broken =
        List.of(
            unhealthy(Nodes.card(0, "NVIDIA A10", 24000, 10, -1)),
            mig(Nodes.card(1, "NVIDIA A10", 24000, 10, -1)),
            Nodes.card(2, "NVIDIA A10", 24000, 10, -1));
    return Stream.of(
        row(
            "29 first",
            "unhealthy and MIG cards are passed over",
            Nodes.view(broken),
            Pods.of(1, 10, 1000),
            placed("c1[" + of(2, 10, 1000) + "]")),
        row(
            "29 counted",
            "unhealthy and MIG cards are counted, and not part of the totals",
            Nodes.used(Nodes.view(broken), Use.ZERO, Use.ZERO, use(1, 0, 23500)),
            Pods.of(1, 10, 400).app(1, 10, 200),
            rejected(Reason.INSUFFICIENT_VGPU_MEMORY, "[need 600 memory, available 500]")),
        row(
            "29 tested",
            "each card fails its own test",
            Nodes.used(Nodes.view(broken), Use.ZERO, Use.ZERO, use(1, 100, 0)),
            Pods.of(1, 0, 400),
            rejected(
                Reason.DEVICE_MIG_ENABLED,
                "(1/3 DeviceMIGEnabled, 1/3 DeviceUnhealthy, 1/3 InsufficientVGPUCore)")),
        row(
            "30",
            "cores scaled: two whole pods share a card",
            halfTaken,
            Pods.of(1, 100, 1024),
            placed("c1[" + of(0, 100, 1024) + "]")),
        row(
            "31",
            "cores scaled: the limit of a request stays",
            halfTaken,
            Pods.of(1, 150, 1024),
            rejected(Reason.DEMAND_INVALID, "requests vGPU core exceeding limit")),
        row(
            "32",
            "insists on oversubscribed memory",
            Nodes.view("n1", Nodes.u(1), new NodeConfig(10, 1, 1, 1)),
            Pods.of(1, 10, 1000).with(Pods.NAMES.memorySchedulerPolicy(), "virtual"),
            rejected(Reason.NODE_MEMORY_TYPE_MISMATCH)),
        row(
            "33",
            "insists on physical memory",
            Nodes.view("n1", Nodes.u(1), new NodeConfig(10, 1, 1, 2)),
            Pods.of(1, 10, 1000).with(Pods.NAMES.memorySchedulerPolicy(), "phys"),
            rejected(Reason.NODE_MEMORY_TYPE_MISMATCH)),
        row(
            "34",
            "memory in blocks",
            Nodes.view("n1", Nodes.u(1), new NodeConfig(10, 1, 1024, 1)),
            Pods.of(1, 10, 4),
            placed("c1[" + of(0, 10, 4096) + "]")));
  }

  static Stream<Scenario> orders() {
    NodeView uneven =
        Nodes.used(
            Nodes.view(Nodes.alike(4, 12000)),
            Use.ZERO,
            use(2, 20, 2000),
            use(5, 50, 6000),
            use(9, 90, 1000));
    return Stream.of(
        row(
            "35 a",
            "binpack takes the fullest card",
            uneven,
            Pods.of(1, 10, 1000).device("binpack"),
            placed("c1[" + of(3, 10, 1000) + "]")),
        row(
            "35 b",
            "binpack takes the fullest card that fits",
            uneven,
            Pods.of(1, 20, 1000).device("binpack"),
            placed("c1[" + of(2, 20, 1000) + "]")),
        row(
            "35 c",
            "spread takes the emptiest card",
            uneven,
            Pods.of(1, 10, 1000).device("spread"),
            placed("c1[" + of(0, 10, 1000) + "]")));
  }

  static Stream<Scenario> inits() {
    return Stream.of(
        row(
            "64",
            "an app reuses its init's card",
            u1(),
            new Pods().init(1, 80, 8000).app(1, 40, 4000),
            placed(
                "i1[" + of(0, 80, 8000) + "];c1[" + of(0, 40, 4000) + "]",
                Map.of(0, use(1, 80, 8000)))),
        row(
            "65",
            "apps add up, inits do not",
            u1(),
            new Pods().init(1, 80, 20000).app(1, 40, 10000).app(1, 40, 10000),
            placed(
                "i1["
                    + of(0, 80, 20000)
                    + "];c1["
                    + of(0, 40, 10000)
                    + "];c2["
                    + of(0, 40, 10000)
                    + "]",
                Map.of(0, use(2, 80, 20000)))),
        row(
            "66",
            "an app may not ask for fewer cards than its init (D3)",
            Nodes.view(Nodes.u(2)),
            new Pods().init(2, 50, 8000).app(1, 40, 4000),
            rejected(
                Reason.DEMAND_INVALID,
                "an app container after an init container of 2 must ask for at least 2")),
        row(
            "67",
            "sidecars add up",
            u1(),
            new Pods().sidecar(1, 20, 2000).app(1, 40, 4000),
            placed(
                "s1[" + of(0, 20, 2000) + "];c1[" + of(0, 40, 4000) + "]",
                Map.of(0, use(2, 60, 6000)))),
        row(
            "68",
            "a sidecar runs beside the init",
            u1(),
            new Pods().sidecar(1, 20, 2000).init(1, 50, 5000).app(1, 40, 4000),
            placed(
                "s1["
                    + of(0, 20, 2000)
                    + "];i2["
                    + of(0, 50, 5000)
                    + "];c1["
                    + of(0, 40, 4000)
                    + "]",
                Map.of(0, use(2, 70, 7000)))),
        row(
            "69",
            "inits follow each other on one card",
            Nodes.view(Nodes.u(2)),
            new Pods().init(1, 50, 5000).init(1, 60, 6000),
            placed(
                "i1[" + of(0, 50, 5000) + "];i2[" + of(0, 60, 6000) + "]",
                Map.of(0, use(1, 60, 6000)))),
        row(
            "70",
            "an init needs a card as well",
            m4(),
            new Pods().init(1, 10, 24000).app(1, 10, 100),
            rejected(Reason.INSUFFICIENT_VGPU_MEMORY)),
        row(
            "D3 more",
            "an app that asks for more gets its init's cards and others",
            m4(),
            new Pods().init(1, 10, 15000).app(2, 10, 1000),
            placed(
                "i1[" + of(2, 10, 15000) + "];c1[" + of(0, 10, 1000) + "," + of(2, 10, 1000) + "]",
                Map.of(0, use(1, 10, 1000), 2, use(1, 10, 15000)))),
        row(
            "D3 chain",
            "the card of an init must be good enough for the app that takes it over",
            m4(),
            new Pods().init(1, 10, 100).app(1, 10, 15000),
            placed(
                "i1[" + of(2, 10, 100) + "];c1[" + of(2, 10, 15000) + "]",
                Map.of(2, use(1, 10, 15000)))));
  }

  static Stream<Scenario> gates() {
    return Stream.of(
        row(
            "3.2 strict numa",
            "what cannot be promised is refused",
            m4(),
            Pods.of(1, 10, 1000).with(Pods.NAMES.deviceTopologyMode(), "numa-strict"),
            rejected(Reason.NUMA_TOPOLOGY_UNSATISFIED, "cannot promise numa-strict")),
        row(
            "3.2 strict link",
            "what cannot be promised is refused",
            m4(),
            Pods.of(1, 10, 1000).with(Pods.NAMES.deviceTopologyMode(), "link-strict"),
            rejected(Reason.LINK_TOPOLOGY_UNSATISFIED, "cannot promise link-strict")),
        row(
            "3.2 numa",
            "a wish is served by the plain order",
            m4(),
            Pods.of(1, 10, 1000).with(Pods.NAMES.deviceTopologyMode(), "numa"),
            placed("c1[" + of(0, 10, 1000) + "]")),
        row(
            "bad zero",
            "cores without number",
            m4(),
            Pods.of(0, 10, 0),
            rejected(Reason.DEMAND_INVALID, "without vgpu-number")),
        row(
            "bad negative",
            "a negative number",
            m4(),
            Pods.of(-1, 0, 0),
            rejected(Reason.DEMAND_INVALID, "must not be negative")),
        row(
            "bad huge",
            "more than a number holds",
            m4(),
            Pods.of(1, 10, Long.MAX_VALUE),
            rejected(Reason.DEMAND_INVALID, "requests vGPU memory exceeding limit")),
        row(
            "bad large",
            "the largest allowed number of the largest blocks",
            Nodes.view("n1", Nodes.u(1), new NodeConfig(10, 1, Integer.MAX_VALUE, 1)),
            Pods.of(16, 100, 1L << 42),
            rejected(Reason.INSUFFICIENT_GPU_CARDS)));
  }

  private static GpuDevice unhealthy(GpuDevice d) {
    return new GpuDevice(
        d.id(),
        d.type(),
        d.uuid(),
        d.core(),
        d.memory(),
        d.number(),
        d.numa(),
        d.mig(),
        d.busId(),
        d.capability(),
        false);
  }

  private static GpuDevice mig(GpuDevice d) {
    return new GpuDevice(
        d.id(),
        d.type(),
        d.uuid(),
        d.core(),
        d.memory(),
        d.number(),
        d.numa(),
        true,
        d.busId(),
        d.capability(),
        d.healthy());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({
    "io.vgpu.control.scheduler.RequestScenarios#requests",
    "io.vgpu.control.scheduler.RequestScenarios#lists",
    "nodes",
    "orders",
    "inits",
    "gates"
  })
  void keepsTheRowsPromise(Scenario row) {
    Verdict verdict =
        new Allocator(new Policies()).plan(row.pod().request(), row.node(), row.node().cards());
    switch (row.expected()) {
      case Scenario.Placed placed -> {
        assertThat(verdict).isInstanceOf(Verdict.Fits.class);
        Placement placement = ((Verdict.Fits) verdict).placement();
        assertThat(ClaimCodec.encode(placement.claim())).isEqualTo(placed.claim());
        placed
            .footprint()
            .forEach(
                (card, use) ->
                    assertThat(placement.footprint().cards()).containsEntry(Nodes.uuid(card), use));
      }
      case Scenario.Rejected rejected -> {
        assertThat(verdict).isInstanceOf(Verdict.Refused.class);
        Verdict.Refused refused = (Verdict.Refused) verdict;
        assertThat(refused.reason()).isEqualTo(rejected.reason());
        rejected.texts().forEach(text -> assertThat(refused.detailed()).contains(text));
      }
    }
  }

  static Stream<Integer> numbers() {
    return IntStream.rangeClosed(1, 4).boxed();
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void explainsEveryContainer(int number) {
    Verdict verdict =
        new Allocator(new Policies()).plan(Pods.of(number, 10, 100).request(), m4(), m4().cards());
    assertThat(((Verdict.Fits) verdict).placement().why())
        .singleElement()
        .asString()
        .contains("container c1", "order none");
  }
}
