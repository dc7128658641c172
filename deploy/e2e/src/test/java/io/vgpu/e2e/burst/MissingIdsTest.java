package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MissingIdsTest {
  private static final DeviceAudit.Running ONE = new DeviceAudit.Running("a", "p", "main");
  private final MissingIds missing = new MissingIds();

  private static Instant at(long ms) {
    return Instant.ofEpochMilli(ms);
  }

  @Test
  void idsThatStayMissingAreConfirmed() {
    missing.answer(List.of(ONE), at(1_000));
    missing.answer(List.of(ONE), at(2_900));
    assertThat(missing.confirmed()).isEmpty();
    missing.answer(List.of(ONE), at(3_000));
    assertThat(missing.confirmed()).containsExactly(Map.entry(ONE, at(1_000)));
  }

  @Test
  void aKubeletThatWasAwayIsAskedAnew() {
    missing.answer(List.of(ONE), at(1_000));
    missing.noAnswer();
    missing.answer(List.of(ONE), at(9_000));
    missing.answer(List.of(ONE), at(10_900));
    assertThat(missing.confirmed()).isEmpty();
    missing.answer(List.of(ONE), at(11_000));
    assertThat(missing.confirmed()).containsExactly(Map.entry(ONE, at(9_000)));
  }

  @Test
  void aContainerThatJustEndedIsNot() {
    missing.answer(List.of(ONE), at(1_000));
    missing.answer(List.of(), at(2_000));
    missing.answer(List.of(ONE), at(3_500));
    assertThat(missing.confirmed()).isEmpty();
  }
}
