package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The vectors of node-agent.md 14. */
class CompactIdTest {
  @ParameterizedTest
  @CsvSource({"0,0,AA", "1,0,AQ", "0,1,gAI", "3,99,g8YB", "7,81558,h6z6CQ", "255,0,_wE"})
  void isTheVarintOfUnitAndCard(int gpuIndex, long n, String id) {
    assertThat(CompactId.of(gpuIndex, n)).isEqualTo(id);
  }

  @Property
  void lengthIsKnownBeforehand(
      @ForAll @IntRange(max = 255) int gpuIndex, @ForAll @LongRange(max = (1L << 48) - 1) long n) {
    assertThat(CompactId.length(gpuIndex, n)).isEqualTo(CompactId.of(gpuIndex, n).length());
  }

  @Test
  void aCardThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> CompactId.of(256, 0)).hasMessageContaining("must be 0 to 255");
    assertThatThrownBy(() -> CompactId.of(0, -1)).hasMessageContaining("2^48");
  }
}
