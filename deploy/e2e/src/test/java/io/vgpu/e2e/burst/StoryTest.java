package io.vgpu.e2e.burst;

import static io.vgpu.e2e.burst.Histories.app;
import static io.vgpu.e2e.burst.Histories.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.e2e.product.OurPart;
import io.vgpu.model.ContainerDemand;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StoryTest {
  @Test
  void tellsEventsClaimNamesakesPrintsAndLogLines() {
    Histories h = new Histories();
    ContainerDemand one = app("main", 1, 10, 1024);
    h.pod("uid-1", "bare-1", one).bound(claim(one, 2)).phase("Failed").gone();
    h.pod("uid-2", "bare-1", one).replaces("uid-1");
    List<Print> prints = List.of(new Print("uid-1", "bare-1", "main", 0, 5, "### env\n"));
    Map<OurPart, String> logs =
        Map.of(OurPart.AGENT, "refused [pod: ns/bare-1]\nrefused [pod: ns/other]\n");
    assertThat(String.join("\n", new Story(h.history, prints, logs).of("uid-1")))
        .contains(
            "claim main[2_" + BurstNode.uuids().get(2),
            "gone; was Failed",
            "namesake uid-2, replaces uid-1",
            "| ### env",
            "agent: refused [pod: ns/bare-1]")
        .doesNotContain("ns/other");
  }
}
