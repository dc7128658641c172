package io.vgpu.agent.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.measure.GpuTime.Doubt;
import org.junit.jupiter.api.Test;

class GpuTimeTest {
  private static final long S = 1_000_000_000;
  private final GpuTime time = new GpuTime();

  @Test
  void isWhatWasChargedLessRefunds() {
    time.look(10 * S, 1, 5 * S, S); // what was before the agent knew it is not ours
    assertThat(time.look(20 * S, 1, 9 * S, 2 * S)).isEqualTo(Doubt.NONE);
    assertThat(time.ns()).isEqualTo(3 * S);
  }

  @Test
  void aRefundThatComesAfterItsChargeNeverLowersIt() {
    time.look(10 * S, 1, 0, 0);
    time.look(20 * S, 1, 4 * S, 0);
    time.look(21 * S, 1, 4 * S, 3 * S);
    assertThat(time.ns()).isEqualTo(4 * S);
    time.look(30 * S, 1, 8 * S, 3 * S);
    assertThat(time.ns()).isEqualTo(5 * S);
  }

  @Test
  void aResetOfTheFileGoesOnFromWhereItWas() {
    time.look(10 * S, 1, 0, 0);
    time.look(20 * S, 1, 4 * S, 0);
    assertThat(time.look(30 * S, 2, S, 0)).isEqualTo(Doubt.NONE);
    assertThat(time.ns()).isEqualTo(5 * S);
  }

  @Test
  void whatFallsOrLeapsIsDoubtedAndDropped() {
    time.look(10 * S, 1, 7 * S, 0);
    assertThat(time.look(20 * S, 1, 6 * S, 0)).isEqualTo(Doubt.BACK);
    assertThat(time.look(30 * S, 1, 600 * S, 0)).isEqualTo(Doubt.ABSURD);
    assertThat(time.ns()).isZero();
    assertThat(time.look(40 * S, 1, 602 * S, 0)).isEqualTo(Doubt.NONE);
    assertThat(time.ns()).isEqualTo(2 * S);
  }
}
