package io.vgpu.agent.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class GpuTimePropertiesTest {
  private static final long S = 1_000_000_000;

  private record Step(long passedNs, long epoch, long raw, long refund) {}

  @Provide
  Arbitrary<List<Step>> anything() {
    Arbitrary<Long> words =
        Arbitraries.oneOf(Arbitraries.longs(), Arbitraries.longs().between(0, 100 * S));
    return Combinators.combine(
            Arbitraries.longs().between(0, 10 * S),
            Arbitraries.longs().between(0, 2),
            words,
            Arbitraries.longs().between(0, 100 * S))
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }

  /** 13-32, 13-53: whatever a container writes, its time never falls and never beats the clock. */
  @Property(tries = 300)
  void neverFallsAndNeverExceedsTheTimeItIsKnown(@ForAll("anything") List<Step> steps) {
    GpuTime any = new GpuTime();
    long now = 1_000 * S;
    long began = -1;
    long last = 0;
    for (Step s : steps) {
      now += s.passedNs();
      began = began < 0 ? now : began;
      any.look(now, s.epoch(), s.raw(), s.refund());
      assertThat(any.ns()).isBetween(last, now - began);
      last = any.ns();
    }
  }
}
