package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What holds for every node and every pod (control-plane.md 8, invariants; D3's rule of reuse). */
class AllocatorPropertiesTest {
  private final Allocator allocator = new Allocator(new Policies());

  @Provide
  Arbitrary<NodeView> nodes() {
    Arbitrary<Integer> slots = Arbitraries.integers().between(1, 10);
    Arbitrary<Long> memory = Arbitraries.of(1024L, 12288L, 20480L, 24000L);
    Arbitrary<Integer> cores = Arbitraries.of(100, 100, 200, 85);
    Arbitrary<Integer> state = Arbitraries.integers().between(0, 9);
    Arbitrary<List<Object[]>> cards =
        Combinators.combine(slots, memory, cores, state)
            .as((s, m, c, h) -> new Object[] {s, m, c, h})
            .list()
            .ofMinSize(2)
            .ofMaxSize(8);
    Arbitrary<List<Integer>> load = Arbitraries.integers().between(0, 100).list().ofSize(24);
    return Combinators.combine(cards, load, Arbitraries.of(1, 1, 1, 256))
        .as(AllocatorPropertiesTest::node);
  }

  private static NodeView node(List<Object[]> cards, List<Integer> load, int factor) {
    List<GpuDevice> devices = new ArrayList<>();
    for (int i = 0; i < cards.size(); i++) {
      Object[] c = cards.get(i);
      GpuDevice d =
          Nodes.card(
              i,
              i % 2 == 0 ? "NVIDIA A10" : "NVIDIA A100",
              (Long) c[1],
              (Integer) c[0],
              i % 3 - 1,
              (Integer) c[2]);
      int state = (Integer) c[3];
      devices.add(
          new GpuDevice(
              d.id(),
              d.type(),
              d.uuid(),
              d.core(),
              d.memory(),
              d.number(),
              d.numa(),
              state == 8,
              d.busId(),
              d.capability(),
              state != 9));
    }
    NodeView empty = Nodes.view("n1", devices, new NodeConfig(10, 1, factor, 1));
    Use[] used = new Use[devices.size()];
    for (int i = 0; i < used.length; i++) {
      GpuDevice d = devices.get(i);
      used[i] =
          new Use(
              (long) d.number() * load.get(3 * i) / 100,
              (long) d.core() * load.get(3 * i + 1) / 100,
              d.memory() * load.get(3 * i + 2) / 100);
    }
    return Nodes.used(empty, used);
  }

  private record Wanted(int kind, int number, int cores, int memory) {}

  @Provide
  Arbitrary<PodRequest> pods() {
    Arbitrary<Wanted> container =
        Combinators.combine(
                Arbitraries.integers().between(0, 4),
                Arbitraries.integers().between(1, 3),
                Arbitraries.of(10, 10, 20, 20, 0, 50, 100),
                Arbitraries.of(1, 100, 512, 512, 1024, 4000, 0))
            .as(Wanted::new);
    return Combinators.combine(
            container.list().ofMinSize(1).ofMaxSize(4),
            Arbitraries.of("binpack", "spread", "none"),
            Arbitraries.of("", "", "", "a10"),
            Arbitraries.of("", "", "", "card-2"))
        .as(
            (containers, policy, include, exclude) -> {
              Pods pod = new Pods().device(policy);
              int reusable = 0;
              for (Wanted w : inKubeletOrder(containers)) {
                int number = Math.max(w.number(), reusable);
                switch (w.kind()) {
                  case 0 -> pod.init(number, w.cores(), w.memory());
                  case 1 -> pod.sidecar(number, w.cores(), w.memory());
                  default -> pod.app(number, w.cores(), w.memory());
                }
                reusable = w.kind() == 0 ? number : 0;
              }
              return named(named(pod, include, true), exclude, false).request();
            });
  }

  private static List<Wanted> inKubeletOrder(List<Wanted> containers) {
    return containers.stream().sorted(Comparator.comparing(w -> w.kind() >= 2)).toList();
  }

  private static Pods named(Pods pod, String entry, boolean include) {
    if (entry.isEmpty()) {
      return pod;
    }
    boolean uuid = entry.startsWith("card");
    return pod.with(
        include
            ? uuid ? Pods.NAMES.includeGpuUuid() : Pods.NAMES.includeGpuType()
            : uuid ? Pods.NAMES.excludeGpuUuid() : Pods.NAMES.excludeGpuType(),
        entry);
  }

  private Placement fitting(PodRequest pod, NodeView node) {
    Verdict verdict = allocator.plan(pod, node, node.cards());
    Assume.that(verdict instanceof Verdict.Fits);
    return ((Verdict.Fits) verdict).placement();
  }

  @Property(tries = 3000, edgeCases = EdgeCasesMode.NONE)
  void neverPromisesMoreThanACardHas(
      @ForAll("pods") PodRequest pod, @ForAll("nodes") NodeView node) {
    Placement placement = fitting(pod, node);
    Map<GpuUuid, NodeView.Card> cards = new HashMap<>();
    node.cards().forEach(c -> cards.put(c.device().uuid(), c));
    placement
        .footprint()
        .cards()
        .forEach(
            (uuid, use) -> {
              NodeView.Card card = Objects.requireNonNull(cards.get(uuid), "a card of the node");
              assertThat(card.device().schedulable()).isTrue();
              assertThat(card.used().plus(use).within(card.total())).isTrue();
            });
  }

  @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
  void givesEachContainerWhatItAsksFor(
      @ForAll("pods") PodRequest pod, @ForAll("nodes") NodeView node) {
    Placement placement = fitting(pod, node);
    List<ContainerDemand> asked = pod.demand().vgpuContainers();
    assertThat(placement.claim().containers())
        .extracting(ContainerClaim::container)
        .containsExactlyElementsOf(asked.stream().map(ContainerDemand::name).toList());
    for (int i = 0; i < asked.size(); i++) {
      ContainerDemand demand = asked.get(i);
      List<DeviceClaim> given = placement.claim().containers().get(i).devices();
      assertThat(given).hasSize((int) demand.number());
      assertThat(given).isSortedAccordingTo(Comparator.comparingInt(DeviceClaim::index));
      if (demand.cores() > 0) {
        assertThat(given).allMatch(d -> d.cores().value() == demand.cores());
      }
      for (DeviceClaim d : given) {
        GpuDevice card = node.cards().get(d.index()).device();
        assertThat(pod.wishes().types().accepts(card.type())).isTrue();
        assertThat(pod.wishes().uuids().accepts(card.uuid().value())).isTrue();
      }
    }
  }

  /** The kubelet hands the ids of finished init containers on without asking anybody (D3). */
  @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
  void laterContainersContainTheCardsOfFinishedInits(
      @ForAll("pods") PodRequest pod, @ForAll("nodes") NodeView node) {
    Placement placement = fitting(pod, node);
    List<ContainerDemand> asked = pod.demand().vgpuContainers();
    Set<GpuUuid> reusable = new HashSet<>();
    for (int i = 0; i < asked.size(); i++) {
      Set<GpuUuid> given = new HashSet<>(placement.claim().containers().get(i).uuids());
      assertThat(given).containsAll(reusable);
      if (given.size() == reusable.size()) {
        assertThat(given).isEqualTo(reusable);
      }
      reusable = asked.get(i).kind() == ContainerKind.INIT ? given : new HashSet<>();
    }
  }

  @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
  void theSameInputGivesTheSameAnswer(
      @ForAll("pods") PodRequest pod, @ForAll("nodes") NodeView node) {
    assertThat(new Allocator(new Policies()).plan(pod, node, node.cards()))
        .isEqualTo(allocator.plan(pod, node, node.cards()));
  }

  /** For one app container: all cards that pass, in policy order, and the first of them. */
  @Property(tries = 2000, edgeCases = EdgeCasesMode.NONE)
  void takesTheFirstOfTheSortedListOrSaysWhyNot(
      @ForAll("nodes") NodeView node, @ForAll("singles") PodRequest pod) {
    ContainerDemand c = pod.demand().containers().getFirst();
    long cores = c.cores() == 0 && c.memory() == 0 ? 100 : c.cores();
    long factor = ((NodeOffer.Offered) node.offer()).config().memoryFactor();
    List<NodeView.Card> passing =
        node.cards().stream()
            .filter(k -> k.device().schedulable())
            .filter(k -> k.free().slots() >= 1)
            .filter(
                k ->
                    k.free().memory()
                        >= (c.memory() == 0 ? k.total().memory() : c.memory() * factor))
            .filter(k -> k.free().cores() >= Math.max(1, cores))
            .toList();
    List<Integer> sorted =
        passing.stream()
            .sorted(order(pod.wishes().devicePolicy().word()))
            .map(k -> k.device().id())
            .toList();
    Verdict verdict = allocator.plan(pod, node, node.cards());
    if (sorted.size() < c.number()) {
      assertThat(verdict).isInstanceOf(Verdict.Refused.class);
    } else {
      assertThat(verdict).isInstanceOf(Verdict.Fits.class);
      assertThat(((Verdict.Fits) verdict).placement().claim().containers().getFirst().devices())
          .extracting(DeviceClaim::index)
          .containsExactlyInAnyOrderElementsOf(sorted.subList(0, (int) c.number()));
    }
  }

  @Provide
  Arbitrary<PodRequest> singles() {
    return Combinators.combine(
            Arbitraries.integers().between(1, 4),
            Arbitraries.of(0, 10, 50, 100),
            Arbitraries.of(0, 1, 512, 4000),
            Arbitraries.of("binpack", "spread", "none"))
        .as((n, c, m, policy) -> Pods.of(n, c, m).device(policy).request());
  }

  private static Comparator<NodeView.Card> order(String policy) {
    Comparator<NodeView.Card> byId = Comparator.comparingInt(k -> k.device().id());
    Comparator<NodeView.Card> byFree = Comparator.comparingDouble(AllocatorPropertiesTest::free);
    return switch (policy) {
      case "binpack" -> byFree.thenComparing(byId);
      case "spread" -> byFree.reversed().thenComparing(byId);
      default ->
          Comparator.<NodeView.Card>comparingInt(
                  k -> k.device().numa() < 0 ? Integer.MAX_VALUE : k.device().numa())
              .thenComparing(byId);
    };
  }

  private static double free(NodeView.Card k) {
    Use total = k.total();
    Use free = k.free();
    return ((double) free.slots() / total.slots()
            + (double) free.cores() / total.cores()
            + (double) free.memory() / total.memory())
        / 3
        * 100;
  }
}
