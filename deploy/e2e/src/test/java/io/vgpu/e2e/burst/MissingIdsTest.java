package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MissingIdsTest {
  private static final DeviceAudit.Running ONE = new DeviceAudit.Running("a", "p", "main");
  private final MissingIds missing = new MissingIds();

  @Test
  void idsThatStayMissingAreConfirmed() {
    missing.answer(List.of(ONE), 1_000);
    missing.answer(List.of(ONE), 2_900);
    assertThat(missing.confirmed()).isEmpty();
    missing.answer(List.of(ONE), 3_000);
    assertThat(missing.confirmed()).containsExactly(ONE);
  }

  @Test
  void aContainerThatJustEndedIsNot() {
    missing.answer(List.of(ONE), 1_000);
    missing.answer(List.of(), 2_000);
    missing.answer(List.of(ONE), 3_500);
    assertThat(missing.confirmed()).isEmpty();
  }
}
