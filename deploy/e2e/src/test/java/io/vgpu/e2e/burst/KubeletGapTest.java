package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class KubeletGapTest {
  private static final String MARKED =
      "I1201 %s   4711 manager.go:412] \"Mark all resources Unhealthy for resource\" resourceName=\"%s\"\n";
  private static final String LISTED =
      "I1201 %s   4711 manager.go:315] \"Processed device updates for resource\" resourceName=\"%s\" totalCount=80 healthyCount=%d\n";
  private static final String OURS = "nvidia.com/vgpu-number";

  private static String marked(String clock, String resource) {
    return MARKED.formatted(clock, resource);
  }

  private static String listed(String clock, String resource, int healthy) {
    return LISTED.formatted(clock, resource, healthy);
  }

  @Test
  void reachesFromTheMarkToTheFirstHealthyList() {
    String log =
        listed("10:00:00.000001", OURS, 80)
            + marked("10:00:01.500000", OURS)
            + "E1201 10:00:01.500100   4711 client.go:90] \"ListAndWatch ended unexpectedly\"\n"
            + listed("10:00:01.560000", OURS, 0)
            + marked("10:00:01.570000", OURS)
            + listed("10:00:01.571250", OURS, 80);
    assertThat(KubeletGap.of(log, OURS))
        .singleElement()
        .satisfies(g -> assertThat(g.length()).isEqualTo(Duration.ofNanos(71_250_000)));
  }

  @Test
  void otherResourcesAreNotMeant() {
    String log =
        marked("10:00:01.000000", "nvidia.com/vgpu-cores")
            + marked("10:00:02.000000", OURS)
            + listed("10:00:03.000000", "nvidia.com/vgpu-cores", 800)
            + listed("10:00:04.000000", OURS, 80);
    assertThat(KubeletGap.of(log, OURS))
        .extracting(KubeletGap::length)
        .containsExactly(Duration.ofSeconds(2));
  }

  @Test
  void midnightMayComeInBetween() {
    String log = marked("23:59:59.990000", OURS) + listed("00:00:00.010000", OURS, 80);
    assertThat(KubeletGap.of(log, OURS)).first().extracting(KubeletGap::ms).isEqualTo(20.0);
  }

  @Test
  void oneThatLastsIsNoneYet() {
    assertThat(KubeletGap.of(marked("10:00:00.000000", OURS), OURS)).isEmpty();
    assertThat(KubeletGap.of("nonsense resourceName=\"" + OURS + "\"", OURS)).isEmpty();
  }
}
