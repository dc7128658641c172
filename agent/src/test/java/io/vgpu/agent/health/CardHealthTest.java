package io.vgpu.agent.health;

import static io.vgpu.agent.health.Standing.HEALTHY;
import static io.vgpu.agent.health.Standing.PROBING;
import static io.vgpu.agent.health.Standing.SUSPECT;
import static io.vgpu.agent.health.Standing.UNHEALTHY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.health.Evidence.Answered;
import io.vgpu.agent.health.Evidence.Fault;
import io.vgpu.agent.health.Evidence.Mended;
import io.vgpu.agent.health.Evidence.Trouble;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("13-18: a card's health has a way back")
class CardHealthTest {
  private static final HealthRules RULES =
      new HealthRules(Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(30));

  private CardHealth card = CardHealth.healthy(0);

  private Standing at(long seconds, Evidence evidence) {
    card = card.after(evidence, Duration.ofSeconds(seconds).toNanos(), RULES);
    return card.standing();
  }

  @Test
  void anOddMomentPasses() {
    assertThat(at(1, new Trouble("no answer"))).isEqualTo(SUSPECT);
    assertThat(card.standing().offered()).isTrue();
    assertThat(at(10, new Trouble("no answer"))).isEqualTo(SUSPECT);
    assertThat(at(10, new Answered())).isEqualTo(HEALTHY);
    assertThat(card.cause()).isEmpty();
    assertThat(at(11, new Trouble("no answer"))).as("the grace begins anew").isEqualTo(SUSPECT);
  }

  @Test
  void whatStaysOddIsUnhealthyAndComesBackByAnswering() {
    at(0, new Trouble("a call does not return"));
    at(5, new Trouble("failed with code 999"));
    assertThat(at(10, new Trouble("failed with code 999"))).isEqualTo(UNHEALTHY);
    assertThat(card.cause()).as("what came first").isEqualTo("a call does not return");
    assertThat(at(11, new Answered())).as("not quiet yet").isEqualTo(UNHEALTHY);
    at(20, new Trouble("failed with code 999"));
    assertThat(at(79, new Answered())).isEqualTo(UNHEALTHY);
    assertThat(at(80, new Answered())).isEqualTo(PROBING);
    assertThat(card.standing().offered()).isFalse();
    assertThat(at(109, new Answered())).isEqualTo(PROBING);
    assertThat(at(110, new Answered())).isEqualTo(HEALTHY);
  }

  @Test
  void eachRelapseIsProbedForTwiceAsLong() {
    at(0, new Fault("XID 62", false));
    at(60, new Answered());
    assertThat(at(70, new Trouble("no answer"))).as("no grace while probed").isEqualTo(UNHEALTHY);
    at(130, new Answered());
    assertThat(at(189, new Answered())).isEqualTo(PROBING);
    assertThat(at(190, new Answered())).isEqualTo(HEALTHY);
    at(200, new Fault("XID 62", false));
    at(260, new Answered());
    assertThat(at(260 + 119, new Answered())).isEqualTo(PROBING);
    assertThat(at(260 + 120, new Answered())).isEqualTo(HEALTHY);
    at(380 + 3600, new Answered()); // an hour without a fall
    at(4000, new Fault("XID 62", false));
    at(4060, new Answered());
    assertThat(at(4090, new Answered())).isEqualTo(HEALTHY);
  }

  @Test
  void whatOnlyAResetMendsWaitsForAPerson() {
    at(0, new Fault("XID 13", false));
    at(1, new Fault("XID 79", true));
    assertThat(card.cause()).as("what a person must know").isEqualTo("XID 79");
    assertThat(at(100_000, new Answered())).isEqualTo(UNHEALTHY);
    assertThat(at(100_001, new Mended())).isEqualTo(PROBING);
    assertThat(at(100_031, new Answered())).isEqualTo(HEALTHY);
    assertThat(at(100_032, new Mended())).as("says nothing of a healthy one").isEqualTo(HEALTHY);
  }

  @Test
  void whatWasKnownBeforeTheRestartHolds() {
    card = CardHealth.remembered("XID 79", true, 2, 0);
    assertThat(at(100, new Answered())).isEqualTo(UNHEALTHY);
    card = CardHealth.remembered("XID 62", false, 2, 0);
    assertThat(at(60, new Answered())).isEqualTo(PROBING);
    assertThat(at(119, new Answered())).as("its second fall").isEqualTo(PROBING);
    assertThat(at(120, new Answered())).isEqualTo(HEALTHY);
  }

  @Test
  void timesAreBounded() {
    assertThatThrownBy(
            () -> new HealthRules(Duration.ofHours(2), Duration.ZERO, Duration.ofSeconds(1)))
        .hasMessageContaining("--health-grace: PT2H must be 0 to 1h");
    assertThat(RULES.probeNanos(1000)).isEqualTo(Duration.ofHours(1).toNanos());
  }

  record Step(long nanos, Evidence evidence) {}

  @Provide
  Arbitrary<List<Step>> lives() {
    Arbitrary<Evidence> evidence =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(8, Arbitraries.just(new Answered())),
            net.jqwik.api.Tuple.of(3, Arbitraries.just(new Trouble("t"))),
            net.jqwik.api.Tuple.of(1, Arbitraries.of(new Fault("f", false), new Fault("l", true))),
            net.jqwik.api.Tuple.of(1, Arbitraries.just(new Mended())));
    return Combinators.combine(Arbitraries.longs().between(0, 120_000_000_000L), evidence)
        .as(Step::new)
        .list()
        .ofMaxSize(60);
  }

  @Property
  void noCardIsOfferedAgainWithoutHavingAnsweredForThatLong(@ForAll("lives") List<Step> life) {
    CardHealth now = CardHealth.healthy(0);
    long time = 0;
    long answering = -1; // since when nothing else was seen
    for (Step step : life) {
      time += step.nanos();
      CardHealth next = now.after(step.evidence(), time, RULES);
      if (step.evidence() instanceof Trouble || step.evidence() instanceof Fault) {
        answering = -1;
      } else if (answering < 0) {
        answering = time;
      }
      if (!now.standing().offered() && next.standing().offered()) {
        assertThat(now.standing()).isEqualTo(PROBING);
        assertThat(time - answering).isGreaterThanOrEqualTo(RULES.probe().toNanos());
      }
      assertThat(next.cause().isEmpty()).isEqualTo(next.standing() == HEALTHY);
      if (step.evidence() instanceof Fault) {
        assertThat(next.standing()).isEqualTo(UNHEALTHY);
      }
      now = next;
    }
  }
}
