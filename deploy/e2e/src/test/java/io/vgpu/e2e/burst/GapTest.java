package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class GapTest {
  private static final Instant BEGAN = Instant.parse("2026-01-01T10:00:00.500Z");
  private static final String LOG =
      """
      2026-01-01T10:00:02.500Z [x] INFO KubeletRegistrar - registered [resource: nvidia.com/vgpu-number]
      2026-01-01T10:00:09.000Z [x] INFO Admission - claim attached [container: a]
      a line of a stack trace that was registered [resource: without a time
      2026-01-01T10:00:10.000Z [x] INFO KubeletRegistrar - registered [resource: nvidia.com/vgpu-number]
      """;

  @Test
  void endsWithTheFirstRegistrationAfterTheLoss() {
    assertThat(Gap.since(1_000, LOG, BEGAN)).isEqualTo(new Gap(1_000, 2_000));
    assertThat(Gap.since(2_001, LOG, BEGAN)).isEqualTo(new Gap(2_001, 9_500));
  }

  @Test
  void withoutRegistrationItDoesNotEnd() {
    assertThat(Gap.since(9_501, LOG, BEGAN).untilMs()).isEqualTo(Long.MAX_VALUE);
    assertThat(Gap.since(9_501, LOG, BEGAN).mayHaveStarted(1_000_000)).isTrue();
  }

  @Test
  void excusesNothingBeforeAndNothingLongAfter() {
    Gap gap = new Gap(1_000, 2_000);
    assertThat(gap.mayHaveStarted(999)).isFalse();
    assertThat(gap.mayHaveStarted(1_000)).isTrue();
    assertThat(gap.mayHaveStarted(17_000)).isTrue();
    assertThat(gap.mayHaveStarted(17_001)).isFalse();
    assertThat(gap.mayLackIds(10)).isTrue();
    assertThat(gap.mayLackIds(2_001)).isFalse();
  }
}
