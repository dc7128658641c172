package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LossesTest {
  private final Histories h = new Histories();

  private static Killer.Killing killing(long atMs, Victim victim) {
    return new Killer.Killing(atMs, new Step.Kill(0, victim, 0), victim.toString());
  }

  @Test
  void failuresArePutDownToTheLastKillBefore() {
    h.pod("a", "p").phase("Failed"); // at 20 ms
    h.pod("b", "p").replaces("a").phase("Succeeded"); // until 50 ms
    h.pod("c", "q").phase("Failed"); // at 70 ms
    List<String> lines =
        Losses.lines(h.history, List.of(killing(15, Victim.AGENT), killing(60, Victim.KUBELET)));
    assertThat(lines)
        .anySatisfy(
            l ->
                assertThat(l)
                    .startsWith("agent ")
                    .contains("1 kills, 1 pods failed", "1 of those replaced"))
        .anySatisfy(
            l ->
                assertThat(l)
                    .startsWith("kubelet ")
                    .contains("1 pods failed", "0 of those replaced"));
  }

  @Test
  void failureBeforeAnyKillIsCountedApart() {
    h.pod("a", "p").phase("Failed");
    assertThat(Losses.lines(h.history, List.of(killing(100, Victim.AGENT))))
        .anySatisfy(l -> assertThat(l).startsWith("no kill before").contains("1 pods failed"))
        .anySatisfy(l -> assertThat(l).startsWith("agent").contains("0 pods failed"));
  }
}
