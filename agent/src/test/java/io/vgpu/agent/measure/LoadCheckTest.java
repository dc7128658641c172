package io.vgpu.agent.measure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoadCheckTest {
  private static final long SECOND = 1_000_000_000;
  private final LoadCheck check = new LoadCheck();
  private long second = 100;

  /** How often it was news in so many looks, one a second. */
  private int looks(int count, int card, int containers) {
    int news = 0;
    for (int i = 0; i < count; i++) {
      news += check.look(second++ * SECOND, card, containers) ? 1 : 0;
    }
    return news;
  }

  @Test
  void moreThanTwentyPointsForFiveSecondsIsNewsOnce() {
    assertThat(looks(5, 900, 699)).isZero();
    assertThat(check.unaccounted()).isFalse();
    assertThat(looks(20, 900, 699)).isOne();
    assertThat(check.unaccounted()).isTrue();
  }

  @Test
  void twentyPointsAreNotMore() {
    assertThat(looks(60, 900, 700)).isZero();
  }

  @Test
  void containersThatClaimMoreThanTheCardDidAreNoticedToo() {
    assertThat(looks(10, 100, 900)).isOne();
  }

  @Test
  void oneLookInBetweenBeginsTheFiveSecondsAnew() {
    looks(4, 900, 0);
    looks(1, 100, 0);
    assertThat(looks(5, 900, 0)).isZero();
    assertThat(looks(1, 900, 0)).isOne();
  }

  @Test
  void aFigureAtTheBorderDoesNotRing() {
    looks(10, 900, 600);
    assertThat(looks(30, 900, 720)).as("18 points neither begin nor end it").isZero();
    assertThat(looks(5, 900, 760)).as("14 points: not yet").isZero();
    assertThat(looks(1, 900, 760)).isOne();
    assertThat(check.unaccounted()).isFalse();
  }

  @Test
  void aCardThatDoesNotAnswerIsNeitherBusyNorIdle() {
    looks(4, 900, 0);
    check.pause();
    assertThat(looks(5, 900, 0)).isZero();
    assertThat(looks(2, 900, 0)).isOne();
    check.pause();
    assertThat(check.unaccounted()).isTrue();
  }
}
