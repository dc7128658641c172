package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.model.ContainerKind;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlannerTest {
  private static BurstPlan plan(long seed) {
    return Planner.plan(seed, BurstNode.uuids());
  }

  @Test
  void sameSeedGivesTheSamePlanAndAnotherSeedAnother() {
    assertThat(plan(7)).isEqualTo(plan(7)).isNotEqualTo(plan(8));
  }

  @Test
  void hundredPodsAFifthOfThemBareUnderDistinctNames() {
    BurstPlan plan = plan(1);
    assertThat(plan.pods()).hasSize(100).extracting(PodPlan::name).doesNotHaveDuplicates();
    assertThat(plan.jobNames()).hasSize(80);
    assertThat(plan.bareNames()).hasSize(23).contains("early-0", "early-1", "early-2");
  }

  @Test
  void everyVictimIsKilledOneToThreeTimesAndOneCheckpointIsLost() {
    LongStream.range(0, 50)
        .mapToObj(PlannerTest::plan)
        .forEach(
            plan -> {
              for (Victim victim : Victim.values()) {
                assertThat(plan.only(Step.Kill.class).filter(k -> k.victim() == victim).count())
                    .isBetween(1L, 3L);
              }
              assertThat(plan.only(Step.Kill.class)).allMatch(k -> k.downMs() <= 1500);
              assertThat(plan.only(Step.LoseCheckpoint.class)).hasSize(1);
              assertThat(plan.only(Step.Remake.class)).hasSizeBetween(4, 6);
            });
  }

  @Test
  void gatesOpenInAnotherOrderThanTheirPodsAreMade() {
    BurstPlan plan = plan(3);
    List<String> made = plan.pods().stream().filter(PodPlan::gated).map(PodPlan::name).toList();
    List<String> opened = plan.only(Step.OpenGate.class).map(Step.OpenGate::name).toList();
    assertThat(opened).containsExactlyInAnyOrderElementsOf(made).isNotEqualTo(made);
  }

  @Test
  void everyKindOfPodOccurs() {
    Set<List<ContainerKind>> shapes =
        plan(5).pods().stream()
            .map(p -> p.asks().stream().map(Ask::kind).toList())
            .collect(Collectors.toSet());
    assertThat(shapes)
        .contains(
            List.of(ContainerKind.APP),
            List.of(ContainerKind.APP, ContainerKind.APP),
            List.of(ContainerKind.INIT, ContainerKind.APP),
            List.of(ContainerKind.SIDECAR, ContainerKind.APP),
            List.of(ContainerKind.INIT, ContainerKind.SIDECAR, ContainerKind.APP));
    assertThat(plan(5).pods())
        .flatExtracting(PodPlan::asks)
        .extracting(Ask::number)
        .contains(1, 2, 3);
  }

  /** Whatever cards its containers share: no pod of a plan may wait for ever. */
  @Test
  void everyPodFitsAnEmptyNode() {
    LongStream.range(0, 50)
        .mapToObj(PlannerTest::plan)
        .flatMap(
            plan ->
                Stream.of(
                        plan.pods().stream(),
                        plan.withoutPlugin().stream(),
                        plan.only(Step.Remake.class).map(Step.Remake::pod))
                    .flatMap(pods -> pods))
        .forEach(
            pod -> {
              assertThat(pod.asks().stream().mapToInt(Ask::cores).sum()).isLessThanOrEqualTo(100);
              assertThat(pod.asks().stream().mapToInt(Ask::memoryMiB).sum())
                  .isLessThanOrEqualTo(40_960);
            });
  }

  @Test
  void remakesAskForSomethingElseAfterTheirPodWasMade() {
    LongStream.range(0, 20)
        .mapToObj(PlannerTest::plan)
        .forEach(
            plan ->
                plan.only(Step.Remake.class)
                    .forEach(
                        remake -> {
                          Step.Create first =
                              plan.only(Step.Create.class)
                                  .filter(c -> c.pod().name().equals(remake.pod().name()))
                                  .findFirst()
                                  .orElseThrow();
                          assertThat(remake.atMs()).isGreaterThan(first.atMs());
                          assertThat(remake.pod().asks()).isNotEqualTo(first.pod().asks());
                          assertThat(first.pod().owned()).isFalse();
                        }));
  }
}
