package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pid that was given to another process is never killed. */
class ProcessIdTest {
  @TempDir private Path folder = Path.of("");
  private Process child;

  @BeforeEach
  void start() throws IOException {
    child = new ProcessBuilder("sleep", "1000").start();
  }

  @AfterEach
  void end() {
    child.destroyForcibly();
  }

  @Test
  void writtenAndReadBackItIsTheSameProcess() {
    ProcessId id = ProcessId.of(child.pid()).orElseThrow();
    assertThat(ProcessId.parse(id.toString())).isEqualTo(id);
    assertThat(id.isAlive()).isTrue();
    assertThat(id.executable()).get().asString().endsWith("sleep");
  }

  @Test
  void samePidWithAnotherStartIsAStranger() throws IOException {
    ProcessId id = ProcessId.of(child.pid()).orElseThrow();
    ProcessId earlier = new ProcessId(id.pid(), id.startTicks() - 1, id.bootId());
    Path pidFile = Files.writeString(folder.resolve("x.pid"), earlier.toString());
    RecordedProcess.read(pidFile).orElseThrow().kill9();
    assertThat(earlier.isAlive()).isFalse();
    assertThat(child.isAlive()).isTrue();
    assertThat(pidFile).doesNotExist();
  }

  @Test
  void samePidAfterABootIsAStranger() {
    ProcessId id = ProcessId.of(child.pid()).orElseThrow();
    assertThat(new ProcessId(id.pid(), id.startTicks(), "other-boot").isAlive()).isFalse();
  }

  @Test
  void killedProcessIsDeadAndItsPidFileGone() throws IOException {
    ProcessId id = ProcessId.of(child.pid()).orElseThrow();
    Path pidFile = Files.writeString(folder.resolve("x.pid"), id.toString());
    RecordedProcess.in(folder).getFirst().stop(Duration.ofSeconds(10));
    assertThat(id.isAlive()).isFalse();
    assertThat(pidFile).doesNotExist();
  }

  @Test
  void commandNamesWithBracketsAndBlanksDoNotConfuseIt() {
    String tail = " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
    assertThat(ProcessId.startOfLiving("77 (a) R (b) S" + tail)).contains(4711L);
    assertThat(ProcessId.startOfLiving("77 (a) Z" + tail)).isEmpty();
  }

  @Test
  void refusesWhatIsNoProcessId() {
    assertThatThrownBy(() -> ProcessId.parse("12"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pid, start and boot");
    assertThatThrownBy(() -> ProcessId.parse("1 5 boot"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pid 1");
  }
}
