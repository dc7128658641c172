package io.vgpu.control.packing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vgpu.control.cluster.NameFilter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What must hold of every workload and every node's room. */
class PackingPropertiesTest {
  private static final NameFilter ANY = NameFilter.NONE;
  private static final NameFilter T4 = NameFilter.of("T4", null);

  @Provide
  Arbitrary<Map<Shape, Weight>> workloads() {
    Arbitrary<Shape> shapes =
        Combinators.combine(
                Arbitraries.integers().between(0, 32).map(c -> c * 1000),
                Arbitraries.integers().between(1, 10).map(s -> s * 100),
                Arbitraries.of(0, 1, 1, 1, 2, 4),
                Arbitraries.of(ANY, ANY, T4))
            .as(
                (cpu, share, count, models) ->
                    new Shape(cpu, count == 0 ? 0 : count > 1 ? 1000 : share, count, models));
    return Arbitraries.maps(
            shapes, Arbitraries.integers().between(1, 50).map(n -> new Weight(n, n * 4096.0)))
        .ofMinSize(1)
        .ofMaxSize(12);
  }

  @Provide
  Arbitrary<Room> rooms() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 96).map(c -> c * 1000),
            Arbitraries.integers().between(0, 400_000),
            Arbitraries.of("T4", "G2"),
            Arbitraries.integers()
                .between(0, 10)
                .map(c -> c * 100)
                .list()
                .ofMinSize(1)
                .ofMaxSize(8))
        .as(
            (cpu, memory, model, cards) ->
                Room.of(cpu, memory, model, cards.stream().mapToInt(c -> c).toArray()));
  }

  private static WorkloadModel model(Map<Shape, Weight> weights) {
    return WorkloadModel.of(1, 1000, weights, ClusterShape.EMPTY);
  }

  /** The published definition, word for word, on the kinds that cover 95 % of the pods. */
  private static double bruteForce(Map<Shape, Weight> weights, Room room) {
    double all = weights.values().stream().mapToDouble(Weight::pods).sum();
    List<Map.Entry<Shape, Weight>> sorted =
        weights.entrySet().stream()
            .sorted(
                (a, b) -> {
                  int byWeight = Double.compare(b.getValue().pods(), a.getValue().pods());
                  return byWeight != 0 ? byWeight : a.getKey().compareTo(b.getKey());
                })
            .toList();
    double covered = 0;
    double sum = 0;
    for (Map.Entry<Shape, Weight> kind : sorted) {
      if (covered >= 0.95 * all) {
        break;
      }
      covered += kind.getValue().pods();
      sum += kind.getValue().pods() * unusable(kind.getKey(), room);
    }
    return sum / covered;
  }

  private static int unusable(Shape pod, Room room) {
    int[] cards = room.byPlace();
    long fitting = Arrays.stream(cards).filter(c -> c >= pod.share()).count();
    boolean fits =
        pod.count() > 0
            && pod.cpu() <= room.cpu()
            && pod.models().accepts(room.model())
            && fitting >= pod.count();
    return Arrays.stream(cards).filter(c -> !fits || c < pod.share()).sum();
  }

  @Property
  void fragmentsAreWhatThePaperDefines(
      @ForAll("workloads") Map<Shape, Weight> weights, @ForAll("rooms") Room room) {
    assertThat(model(weights).fragmented(room)).isEqualTo(bruteForce(weights, room), within(1e-6));
  }

  /** To the last bit: what is chosen at a quick look and at a full one must be the same. */
  @Property
  void summedUpTheyAreWhatTheyAreByDefinition(
      @ForAll("workloads") Map<Shape, Weight> weights,
      @ForAll("rooms") Room one,
      @ForAll("rooms") Room two,
      @ForAll @IntRange(max = 8) int unusedPlaces,
      @ForAll @IntRange(max = Room.CARD) int share) {
    WorkloadModel model = model(weights);
    WorkloadModel.Fragmented sums = model.fragmented();
    for (Room room : List.of(one, two, one)) {
      int[] cards = Arrays.copyOf(room.byPlace(), room.cards() + unusedPlaces);
      Arrays.fill(cards, room.cards(), cards.length, Room.CARD);
      sums.on(room.model());
      assertThat(sums.of(room.cpu(), cards, room.cards())).isEqualTo(model.fragmented(room));
      assertThat(sums.prepare(room.cpu(), cards, room.cards())).isEqualTo(model.fragmented(room));
      for (int at = 0; at < room.cards(); at++) {
        Room less = room.without(at, share);
        assertThat(sums.with(room.card(at), less.card(at)))
            .as("card %d of %s with %d", at, Arrays.toString(room.byPlace()), less.card(at))
            .isEqualTo(model.fragmented(less));
      }
    }
  }

  /** Amounts of CPU that are said to be alike leave the same fragments. */
  @Property
  void cpuCountsByTheKindsThatItLetsRun(
      @ForAll("workloads") Map<Shape, Weight> weights,
      @ForAll("rooms") Room room,
      @ForAll @IntRange(max = 96) int cores) {
    WorkloadModel model = model(weights);
    WorkloadModel.Fragmented sums = model.fragmented();
    sums.on(room.model());
    Room other = Room.of(1000 * cores, room.memory(), room.model(), room.byPlace());
    boolean sameKinds =
        weights.keySet().stream()
            .allMatch(kind -> kind.cpu() <= room.cpu() == kind.cpu() <= other.cpu());
    if (sameKinds) {
      assertThat(sums.alike(room.cpu(), other.cpu())).isTrue();
    }
    if (sums.alike(room.cpu(), other.cpu())) {
      assertThat(model.fragmented(other)).isEqualTo(model.fragmented(room));
    }
  }

  @Property
  void neitherFragmentsNorUsableCapacityExceedWhatIsIdle(
      @ForAll("workloads") Map<Shape, Weight> weights, @ForAll("rooms") Room room) {
    assertThat(model(weights).fragmented(room)).isBetween(0.0, room.free() + 1e-6);
    assertThat(model(weights).usable(room)).isBetween(0.0, (double) room.free());
  }

  @Property
  void theOrderOfCardsDoesNotMatter(
      @ForAll("workloads") Map<Shape, Weight> weights, @ForAll("rooms") Room room) {
    int[] cards = room.byPlace();
    int[] reversed = new int[cards.length];
    for (int i = 0; i < cards.length; i++) {
      reversed[i] = cards[cards.length - 1 - i];
    }
    Room other = Room.of(room.cpu(), room.memory(), room.model(), reversed);
    WorkloadModel model = model(weights);
    assertThat(model.usable(other)).isEqualTo(model.usable(room));
    assertThat(model.fragmented(other)).isEqualTo(model.fragmented(room));
  }

  @Property
  void theSameSeedGivesTheSameSequences(
      @ForAll("workloads") Map<Shape, Weight> weights,
      @ForAll("rooms") Room room,
      @ForAll long seed) {
    WorkloadModel one = new WorkloadModel(1, 1000, weights, ClusterShape.EMPTY, seed);
    WorkloadModel two =
        new WorkloadModel(7, 1000, new HashMap<>(weights), ClusterShape.EMPTY, seed);
    assertThat(two.usable(room)).isEqualTo(one.usable(room));
  }

  @Property
  void whatIsRememberedIsWhatWouldBeComputed(
      @ForAll("workloads") Map<Shape, Weight> weights,
      @ForAll("rooms") Room first,
      @ForAll("rooms") Room second) {
    WorkloadModel used = model(weights);
    used.usable(first);
    used.usable(second);
    assertThat(used.usable(first)).isEqualTo(model(weights).usable(first));
  }

  @Property
  void pricesRiseAsTheNamedModelRunsOut(@ForAll("workloads") Map<Shape, Weight> weights) {
    WorkloadModel model = model(weights);
    Map<String, Double> early = model.prices(Map.of("T4", 50_000L, "G2", 50_000L));
    Map<String, Double> late = model.prices(Map.of("T4", 5_000L, "G2", 50_000L));
    assertThat(early.getOrDefault("G2", 0.0)).isZero();
    if (model.priced()) {
      assertThat(late.getOrDefault("T4", 0.0)).isGreaterThan(early.getOrDefault("T4", 0.0));
    } else {
      assertThat(early).isEmpty();
    }
  }
}
