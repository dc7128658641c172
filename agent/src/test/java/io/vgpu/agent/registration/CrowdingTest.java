package io.vgpu.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** 13-33, 13-36: what one tenant can take of the agent's attention. */
class CrowdingTest {
  @Test
  void twoHundredAndFiftySixInAll() {
    Crowding crowding = new Crowding();
    for (int i = 0; i < 256; i++) {
      assertThat(crowding.enter()).isTrue();
    }
    assertThat(crowding.enter()).isFalse();
    crowding.leave();
    assertThat(crowding.enter()).isTrue();
  }

  @Test
  void eightOfAPod() {
    Crowding crowding = new Crowding();
    for (int i = 0; i < 8; i++) {
      assertThat(crowding.enter("a")).isTrue();
    }
    assertThat(crowding.enter("a")).isFalse();
    assertThat(crowding.enter("b")).as("another is not kept out").isTrue();
    crowding.leave("a");
    assertThat(crowding.enter("a")).isTrue();
    for (int i = 0; i < 8; i++) {
      crowding.leave("a");
    }
    crowding.leave("b");
    assertThat(crowding.pods()).as("nothing is kept of who has left").isZero();
  }

  @Test
  void oneLineAMinuteAndKind() {
    Seldom seldom = new Seldom();
    long minute = Duration.ofMinutes(1).toNanos();
    int lines = 0;
    for (int i = 0;
        i < 10_000;
        i++) { // ten thousand refusals of two kinds, spread over ten minutes
      lines += seldom.due(Verdict.IMPOSTOR, i * minute / 1000) ? 1 : 0;
      lines += seldom.due(Verdict.FULL, i * minute / 1000) ? 1 : 0;
      lines += seldom.due(Verdict.REGISTERED, i * minute / 1000) ? 1 : 0;
    }
    assertThat(lines).isEqualTo(20);
  }
}
