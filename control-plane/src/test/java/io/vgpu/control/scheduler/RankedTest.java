package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Sorting digit by digit gives the order that comparing gives. */
class RankedTest {
  private static final double[] ODD = {
    0.0,
    -0.0,
    Double.NaN,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    -1e300,
    Double.MIN_VALUE
  };

  @Property(tries = 2000)
  void sortsAsComparingDoes(@ForAll long seed) {
    Random random = new Random(seed);
    int n = random.nextInt(40);
    int[] positions = new int[n + 2];
    int[] fitness = new int[n + 2];
    double[] scores = new double[n + 2];
    int kinds = 1 + random.nextInt(3);
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      positions[i] = 1000 - i;
      fitness[i] = random.nextInt(kinds) - 1;
      scores[i] =
          random.nextInt(4) == 0
              ? ODD[random.nextInt(ODD.length)]
              : random.nextInt(3) * (random.nextBoolean() ? 1 : random.nextGaussian());
      expected.add(i);
    }
    expected.sort(
        Comparator.<Integer>comparingInt(i -> -fitness[i])
            .thenComparing((a, b) -> Double.compare(scores[b], scores[a]))
            .thenComparingInt(i -> i));
    Ranked ranked = Ranked.of(positions, fitness, scores, n);
    assertThat(IntStream.range(0, n).map(r -> 1000 - ranked.position(r)).boxed().toList())
        .isEqualTo(expected);
    for (int i = 0; i < n; i++) {
      assertThat(Double.compare(ranked.score(i), scores[expected.get(i)])).isZero();
      assertThat(ranked.fitness(i)).isEqualTo(fitness[expected.get(i)]);
    }
  }
}
