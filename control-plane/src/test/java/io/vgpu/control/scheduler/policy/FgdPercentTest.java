package io.vgpu.control.scheduler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

/** Looked up or computed, fgd's score of a change is the same. */
class FgdPercentTest {
  @Property(tries = 20_000)
  void isTheFormula(@ForAll @DoubleRange(min = -50_000, max = 50_000) double change) {
    assertThat(FgdPercent.of(change)).isEqualTo(FgdPercent.formula(change));
  }

  @Property(tries = 20_000)
  void isTheFormulaWhereNodesAre(@ForAll @DoubleRange(min = -2000, max = 2000) double change) {
    assertThat(FgdPercent.of(change)).isEqualTo(FgdPercent.formula(change));
  }

  /** Around every change at which one percent ends, to the last bit. */
  @Test
  void isTheFormulaWhereAPercentEnds() {
    for (int percent = 0; percent < 100; percent++) {
      double change = 1000 * Math.log(100.0 / (percent + 1) - 1);
      for (int i = 0; i < 200; i++) {
        change = Math.nextDown(change);
      }
      for (int i = 0; i < 400; i++) {
        assertThat(FgdPercent.of(change)).as("%s", change).isEqualTo(FgdPercent.formula(change));
        change = Math.nextUp(change);
      }
    }
  }

  @Test
  void nothingChangedIsFifty() {
    assertThat(FgdPercent.of(0)).isEqualTo(50);
    assertThat(FgdPercent.of(-0.0)).isEqualTo(50);
    assertThat(FgdPercent.of(Double.MIN_VALUE)).isEqualTo(50);
    assertThat(FgdPercent.of(1e9)).isZero();
    assertThat(FgdPercent.of(-1e9)).isEqualTo(100);
  }
}
