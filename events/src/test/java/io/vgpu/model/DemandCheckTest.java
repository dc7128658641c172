package io.vgpu.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemandCheckTest {
  /** Notation: kind number/cores/memory, joined by blanks: i init, s sidecar, a app. */
  private static PodDemand pod(String text) {
    List<ContainerDemand> containers = new ArrayList<>();
    for (String part : text.split(" ", -1)) {
      String[] n = part.substring(1).split("/", -1);
      ContainerKind kind =
          switch (part.charAt(0)) {
            case 'i' -> ContainerKind.INIT;
            case 's' -> ContainerKind.SIDECAR;
            default -> ContainerKind.APP;
          };
      containers.add(
          new ContainerDemand(
              "c" + containers.size(),
              kind,
              Long.parseLong(n[0]),
              Long.parseLong(n[1]),
              Long.parseLong(n[2])));
    }
    return new PodDemand(containers);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a1/101/0|container c0 requests vGPU core exceeding limit",
        "a17/10/0|container c0 requests vGPU number exceeding limit",
        "a17/101/0|vGPU core exceeding limit",
        "a-1/10/0|vgpu-number -1: must not be negative",
        "a1/-5/0|vgpu-cores -5: must not be negative",
        "a1/5/-1|vgpu-memory -1: must not be negative",
        "a1/5/9223372036854775807|vGPU memory exceeding limit",
        "a0/5/0|without vgpu-number",
        "a0/0/5|without vgpu-number",
        "i2/0/0 a1/0/0|an app container after an init container of 2 must ask for at least 2",
        "i1/0/0 i2/0/0 a1/0/0|an app container after an init container of 2 must ask for at least 2",
        "i2/0/0 s1/0/0 a1/0/0|a sidecar after an init container of 2 must ask for at least 2",
        "i3/0/0 i2/0/0|an init container after an init container of 3 must ask for at least 3"
      })
  void refusesWithAReason(String demand, String says) {
    assertThat(DemandCheck.firstBreach(pod(demand)))
        .hasValueSatisfying(t -> assertThat(t).contains(says));
  }

  @ParameterizedTest
  @CsvSource({
    "a1/100/1",
    "a16/0/0",
    "a0/0/0",
    "i2/0/0 a2/0/0",
    "i1/0/0 a2/0/0",
    "s2/0/0 a1/0/0",
    "i2/0/0 a2/0/0 a1/0/0",
    "i2/0/0 s2/0/0 a1/0/0",
    "i2/0/0 a0/0/0"
  })
  void acceptsWhatCanBeGiven(String demand) {
    assertThat(DemandCheck.firstBreach(pod(demand))).isEmpty();
  }
}
