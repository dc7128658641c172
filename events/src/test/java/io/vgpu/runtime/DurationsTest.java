package io.vgpu.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
  @Test
  void readsWhatGoReads() {
    assertThat(Durations.parse("300ms")).isEqualTo(Duration.ofMillis(300));
    assertThat(Durations.parse("5s")).isEqualTo(Duration.ofSeconds(5));
    assertThat(Durations.parse("1h30m")).isEqualTo(Duration.ofMinutes(90));
    assertThat(Durations.parse("1.5s")).isEqualTo(Duration.ofMillis(1500));
    assertThat(Durations.parse("0")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "s", "-5s", "5 s", "5d", "PT5S"})
  void refusesWhatItDoesNotKnow(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("duration \"" + text + "\"");
  }
}
