package io.vgpu.agent.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What kernels have shown on real nodes, each with its origin: nested roots (13-60), CRI-O with
 * cgroupfs (13-61), and that the container's id is never lost on the way (13-62).
 */
class RecordedCgroupsTest {
  record Recorded(String origin, String node, String pod, String container, String file) {
    @Override
    public String toString() {
      return node + " (" + origin + ")";
    }
  }

  static List<Recorded> recorded() throws IOException {
    String text;
    try (InputStream in =
        Objects.requireNonNull(
            RecordedCgroupsTest.class.getResourceAsStream("/cgroup/recorded.txt"))) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    List<Recorded> all = new ArrayList<>();
    for (String block : text.split("\n\n", -1)) {
      if (!block.startsWith("#")) {
        List<String> lines = block.lines().toList();
        all.add(
            new Recorded(
                field(lines, 0, "origin: "),
                field(lines, 1, "node: "),
                field(lines, 2, "pod: "),
                field(lines, 3, "container: "),
                lines.stream().skip(4).collect(Collectors.joining("\n", "", "\n"))));
      }
    }
    return all;
  }

  private static String field(List<String> lines, int at, String name) {
    assertThat(lines.get(at)).startsWith(name);
    return lines.get(at).substring(name.length());
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void theContainerIsFound(Recorded recorded) {
    assertThat(CgroupFile.owner(recorded.file()))
        .contains(new CgroupOwner(recorded.pod(), Optional.of(recorded.container())));
  }

  /** Each line alone says the same, or nothing: so do the folders of each hierarchy. */
  @ParameterizedTest
  @MethodSource("recorded")
  void everyHierarchySaysTheSame(Recorded recorded) {
    recorded
        .file()
        .lines()
        .filter(line -> line.contains(recorded.container()))
        .forEach(
            line ->
                assertThat(CgroupFile.owner(line))
                    .as(line)
                    .contains(new CgroupOwner(recorded.pod(), Optional.of(recorded.container()))));
  }

  @Test
  void allRuntimesAndDriversAreThere() throws IOException {
    String nodes = recorded().stream().map(Recorded::node).collect(Collectors.joining("\n"));
    assertThat(nodes.lines())
        .hasSizeGreaterThanOrEqualTo(14)
        .anyMatch(containing("containerd", "systemd"))
        .anyMatch(containing("containerd", "cgroupfs"))
        .anyMatch(containing("CRI-O", "systemd"))
        .anyMatch(containing("CRI-O", "cgroupfs"))
        .anyMatch(containing("docker", "systemd"))
        .anyMatch(containing("docker", "cgroupfs"))
        .anyMatch(containing("v2"))
        .anyMatch(containing("hybrid"))
        .anyMatch(containing("--cgroup-root"));
  }

  private static java.util.function.Predicate<String> containing(String... words) {
    return line -> Arrays.stream(words).allMatch(line::contains);
  }
}
