package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** The kubelet's text is another process's: whatever it is, pods come out of it or a refusal. */
class NodePodReaderFuzzTest {
  private static final String SOUND =
      "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\","
          + "\"annotations\":{\"nvidia.com/pre-allocated\":\"x\"}},\"spec\":{\"nodeName\":\"g\",\"containers\":["
          + "{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/vgpu-number\":\"2\"}}}]},"
          + "\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"containerID\":\"x\"}]}}]}";
  private final NodePodReader reader = new NodePodReader(Names.DEFAULT);

  @Property(tries = 1000)
  void anyTextIsReadOrRefused(@ForAll String text) {
    assertThat(pods(text)).isNotNull();
  }

  @Property(tries = 2000)
  void aDamagedListIsReadOrRefused(
      @ForAll @IntRange(max = 10_000) int at,
      @ForAll @IntRange(max = 20) int cut,
      @ForAll String put) {
    int from = at % SOUND.length();
    int to = Math.min(SOUND.length(), from + cut);
    assertThat(pods(SOUND.substring(0, from) + put + SOUND.substring(to)))
        .hasSizeLessThanOrEqualTo(1);
  }

  @Property(tries = 2000)
  void anyValueMayStandAnywhere(
      @ForAll("values") String value, @ForAll @IntRange(max = 11) int which) {
    String[] fields = {
      "\"a\"",
      "\"n\"",
      "\"u\"",
      "\"x\"",
      "\"g\"",
      "\"c\"",
      "\"2\"",
      "\"Running\"",
      "{\"nvidia.com/vgpu-number\":\"2\"}",
      "{\"nvidia.com/pre-allocated\":\"x\"}",
      "[{\"name\":\"c\",\"containerID\":\"x\"}]",
      "{\"nodeName\""
    };
    assertThat(pods(SOUND.replace(fields[which], value))).hasSizeLessThanOrEqualTo(1);
  }

  @Provide
  Arbitrary<String> values() {
    Arbitrary<String> scalar =
        Arbitraries.of(
            "null",
            "true",
            "0",
            "-1",
            "1e400",
            "99999999999999999999",
            "\"\"",
            "\"1Gi\"",
            "\"-3\"",
            "\"NaN\"",
            "[]",
            "{}",
            "[[]]",
            "\"" + "y".repeat(5000) + "\"");
    return Arbitraries.oneOf(
        scalar,
        Combinators.combine(scalar, scalar).as((a, b) -> "[" + a + "," + b + "]"),
        Combinators.combine(scalar, scalar).as((a, b) -> "{\"name\":" + a + ",\"k\":" + b + "}"));
  }

  private List<NodePod> pods(String text) {
    try {
      return reader.podList(text);
    } catch (FormatException e) {
      return List.of();
    }
  }
}
