package io.vgpu.control.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vgpu.claim.Names;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * One seed of the published trace: our re-run of the known policies is near what their authors
 * published, and ours leaves fewer cards unused. Ten seeds: {@code make bench-packing}.
 */
class OpenbTraceTest {
  private static final long SEED = 42;
  private static final Path FOLDER = Path.of("src/test/resources/openb");

  private final Simulation simulation =
      new Simulation(
          SimFiles.read(FOLDER.resolve("nodes.csv"), FOLDER.resolve("pods.csv"), Names.DEFAULT),
          1.02);

  private Point at(String policy, int percent) {
    List<Point> points = simulation.run(policy, SEED, done -> {});
    return points.get(percent);
  }

  @Test
  void bestFitIsNearThePublishedFigure() {
    assertThat(at("bestfit", 100).allocated()).isEqualTo(92.86, within(0.6));
  }

  @Test
  void fragmentGradientDescentIsNearThePublishedFigures() {
    List<Point> points = simulation.run("fgd", SEED, done -> {});
    assertThat(points.getFirst().fragmented()).isEqualTo(13.9, within(0.15));
    assertThat(points.get(100).allocated()).isEqualTo(95.1, within(0.5));
    assertThat(points.get(100).fragmented()).isEqualTo(4.8, within(0.5));
  }

  @Test
  void foresightLeavesFewerCardsUnused() {
    Point hundred = at("foresight", 100);
    assertThat(hundred.allocated()).isGreaterThan(95.6);
    assertThat(hundred.arrived()).isEqualTo(100, within(0.1));
  }
}
