package io.vgpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** What a run tells of itself: an outcome for everything that ran, or should have. */
class LevelCounterTest {
  @TempDir Path dir;

  @Test
  void tellsPassedFromFailedAndSkippedFromSkippedForWantOfAGpu() throws Exception {
    assertThat(run(Outcomes.class))
        .containsExactlyInAnyOrder(
            "unit passed", "unit failed", "unit skipped", "unit skipped-gpu");
  }

  @Test
  void aClassThatGivesUpBeforeItsFirstTestIsSkipped() throws Exception {
    assertThat(run(GivesUp.class)).containsExactly("unit skipped");
  }

  @Test
  void aClassWithTheTagThatGivesUpWantsAGpu() throws Exception {
    assertThat(run(GivesUpWithoutGpu.class)).containsExactly("unit skipped-gpu");
  }

  @Test
  void aClassThatFailsBeforeItsFirstTestHasFailed() throws Exception {
    assertThat(run(FailsAtOnce.class)).containsExactly("unit failed");
  }

  private List<String> run(Class<?> sample) throws IOException {
    Path file = dir.resolve("levels/of/" + sample.getSimpleName());
    LauncherFactory.create(
            LauncherConfig.builder()
                // else the samples would be counted among the real tests
                .enableTestExecutionListenerAutoRegistration(false)
                .addTestExecutionListeners(new LevelCounter(file))
                .build())
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(sample))
                .build());
    return Files.readAllLines(file);
  }

  /** One test of each outcome. */
  static class Outcomes {
    @Test
    void passes() {}

    @Test
    void fails() {
      Assertions.fail("as it should");
    }

    @Test
    void skips() {
      Assumptions.abort("for no good reason");
    }

    @Test
    @Tag("gpu")
    void wantsGpu() {
      Assumptions.abort("no GPU here");
    }
  }

  /** Its tests never begin. */
  static class GivesUp {
    @BeforeAll
    static void giveUp() {
      Assumptions.abort("for no good reason");
    }

    @Test
    void neverBegins() {}
  }

  /** Its tests never begin, for want of a GPU. */
  @Tag("gpu")
  static class GivesUpWithoutGpu {
    @BeforeAll
    static void giveUp() {
      Assumptions.abort("no GPU here");
    }

    @Test
    void neverBegins() {}
  }

  /** Its preparation breaks. */
  static class FailsAtOnce {
    @BeforeAll
    static void fail() {
      Assertions.fail("as it should");
    }

    @Test
    void neverBegins() {}
  }
}
