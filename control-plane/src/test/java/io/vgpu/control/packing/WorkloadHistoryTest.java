package io.vgpu.control.packing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vgpu.control.testing.Pods;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkloadHistoryTest {
  private static final Duration WEEK = Duration.ofDays(7);
  private static final long NOW = 1_700_000_000_000L;

  private final WorkloadHistory history = new WorkloadHistory(WEEK);

  private static double of(Map<Shape, Weight> weights, int share) {
    return weights.entrySet().stream()
        .filter(e -> e.getKey().share() == share)
        .mapToDouble(e -> e.getValue().pods())
        .sum();
  }

  @Test
  void aPodOfAHalfLifeAgoCountsHalf() {
    history.saw(Pods.of(1, 30, 0).request(), 24_000, 1, NOW - WEEK.toMillis());
    history.saw(Pods.of(1, 50, 0).request(), 24_000, 1, NOW);
    Map<Shape, Weight> weights = history.weights(24_000);
    assertThat(of(weights, 300) / of(weights, 500)).isEqualTo(0.5, within(1e-9));
  }

  @Test
  void agesOfManyHalfLivesStayNumbers() {
    history.saw(Pods.of(1, 30, 0).request(), 24_000, 1, 0);
    history.saw(Pods.of(1, 50, 0).request(), 24_000, 1, WEEK.toMillis() * 2000);
    Map<Shape, Weight> weights = history.weights(24_000);
    assertThat(of(weights, 300)).isZero();
    assertThat(of(weights, 500)).isEqualTo(1, within(1e-9));
  }

  @Test
  void theLargerOfCoresAndMemoryIsTheShare() {
    history.saw(Pods.of(1, 30, 12_000).request(), 24_000, 1, NOW);
    history.saw(Pods.of(1, 60, 12_000).request(), 24_000, 1, NOW);
    history.saw(Pods.of(2, 0, 0).request(), 24_000, 1, NOW);
    Map<Shape, Weight> weights = history.weights(24_000);
    assertThat(weights.keySet()).extracting(Shape::milli).containsExactlyInAnyOrder(500, 600, 2000);
  }

  @Test
  void aMemoryIsMeasuredOnTheCardsWhereThePodRuns() {
    history.saw(Pods.of(1, 10, 20_000).request(), 80_000, 1, NOW);
    assertThat(history.weights(24_000).keySet()).extracting(Shape::share).containsExactly(250);
  }

  @Test
  void thousandsOfKindsAreBounded() {
    for (int i = 0; i < 10_000; i++) {
      history.saw(Pods.of(1, 1, i + 1).request(), 24_000_000, 1, NOW + i);
    }
    assertThat(history.seen()).isEqualTo(10_000);
    assertThat(history.weights(1).size()).isLessThanOrEqualTo(4096);
  }

  @Test
  void fewerThanFiftyPodsAreNotEnoughToLookAhead() {
    Map<Shape, Weight> weights =
        Map.of(new Shape(1000, 500, 1, io.vgpu.control.cluster.NameFilter.NONE), new Weight(49, 1));
    assertThat(WorkloadModel.of(1, 49, weights, ClusterShape.EMPTY).enough()).isFalse();
    assertThat(WorkloadModel.of(1, 50, weights, ClusterShape.EMPTY).enough()).isTrue();
  }
}
