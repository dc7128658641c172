package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SuccessionTest {
  private final Histories h = new Histories("early-0");

  private List<String> findings(Set<String> made, Set<String> deleted, String... names) {
    return new Succession(h.history, Set.of("early"), made, deleted)
        .check(List.of(names)).stream().map(Finding::text).toList();
  }

  @Test
  void failedPodReplacedOnceIsRight() {
    h.pod("a", "p").phase("Failed").gone();
    h.pod("b", "p").replaces("a").phase("Failed").gone();
    h.pod("c", "p").replaces("b").phase("Succeeded");
    assertThat(findings(Set.of("a"), Set.of(), "p")).isEmpty();
  }

  @Test
  void lostPodIsFound() {
    h.pod("a", "p").phase("Failed").gone();
    assertThat(findings(Set.of("a"), Set.of(), "p"))
        .anyMatch(t -> t.contains("failed and was not replaced"))
        .anyMatch(t -> t.contains("lost"));
  }

  @Test
  void podThatNeverExistedIsFound() {
    assertThat(findings(Set.of(), Set.of(), "p")).containsExactly("bare pod p never existed");
  }

  @Test
  void failedPodThatIsLeftLyingIsFound() {
    h.pod("a", "p").phase("Failed");
    assertThat(findings(Set.of("a"), Set.of(), "p"))
        .contains("p failed and was not replaced", "p did not come to its end: Failed, unbound");
  }

  @Test
  void podWithoutDevicesThatSucceededBeforeAnybodyCouldReplaceItHasEnded() {
    h.pod("early", "early-0").phase("Running").marked().phase("Succeeded");
    assertThat(findings(Set.of("early"), Set.of(), "early-0")).isEmpty();
  }

  @Test
  void podWithoutDevicesThatRunsOnIsFound() {
    h.pod("early", "early-0").phase("Running").marked();
    assertThat(findings(Set.of("early"), Set.of(), "early-0"))
        .contains("early-0 failed and was not replaced");
  }

  @Test
  void podWhoseStartItsKubeletBrokeOffHasEnded() {
    h.pod("a", "p").brokenOff();
    assertThat(findings(Set.of("a"), Set.of(), "p")).isEmpty();
  }

  @Test
  void twiceReplacedPodIsFound() {
    h.pod("a", "p").phase("Failed").gone();
    h.pod("b", "p").replaces("a").gone();
    h.pod("c", "p").replaces("a").phase("Succeeded");
    assertThat(findings(Set.of("a"), Set.of(), "p"))
        .anyMatch(t -> t.contains("replaces a, which b replaced"));
  }

  @Test
  void replacedThoughItHadNotFailedIsFound() {
    h.pod("a", "p").phase("Running").gone();
    h.pod("b", "p").replaces("a").phase("Succeeded");
    assertThat(findings(Set.of("a"), Set.of(), "p"))
        .containsExactly("p replaces a, which had not failed");
  }

  @Test
  void replacementOfAStrangerIsFound() {
    h.pod("a", "p").phase("Failed").gone();
    h.pod("b", "p").replaces("x").phase("Succeeded");
    assertThat(findings(Set.of("a"), Set.of(), "p"))
        .contains("p replaces x, which never bore its name", "p failed and was not replaced");
  }

  @Test
  void podThatNobodyMadeIsFound() {
    h.pod("a", "p").phase("Succeeded");
    assertThat(findings(Set.of(), Set.of(), "p")).singleElement().asString().contains("by nobody");
  }

  @Test
  void forceDeletedAndSupersededPodsNeedNoReplacement() {
    h.pod("a", "p").phase("Failed").gone();
    h.pod("b", "p").phase("Succeeded");
    h.pod("c", "q").phase("Failed").gone();
    h.pod("d", "q").phase("Succeeded");
    assertThat(findings(Set.of("a", "b", "c", "d"), Set.of("a"), "p", "q")).isEmpty();
  }

  @Test
  void podThatRanWithoutDevicesMustBeReplacedThoughItDidNotFail() {
    h.pod("early", "early-0").phase("Running");
    assertThat(findings(Set.of("early"), Set.of(), "early-0"))
        .contains("early-0 failed and was not replaced");
    h.pod("next", "early-0").replaces("early").phase("Succeeded");
    assertThat(findings(Set.of("early"), Set.of(), "early-0")).isEmpty();
  }
}
