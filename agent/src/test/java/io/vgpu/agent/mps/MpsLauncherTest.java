package io.vgpu.agent.mps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vgpu.agent.mps.MpsProgram.Answer;
import io.vgpu.agent.testing.Built;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mount namespace of daemon and clients, where the machine lets us have one. */
class MpsLauncherTest {
  @TempDir Path dir;

  @Test
  void theProgramHasTheCardsFolderAsSharedMemory() throws Exception {
    assumeNamespaces();
    Path program = dir.resolve("program");
    Files.writeString(
        program,
        """
        #!/bin/sh
        : >/dev/shm/vgpu-mps-was-here
        echo "$CUDA_VISIBLE_DEVICES $CUDA_MPS_PIPE_DIRECTORY $*"
        """);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (FakeMps fake = new FakeMps(dir)) {
      fake.folders.make(FakeMps::noMount);
      Answer answer =
          new MpsProgram(
                  MpsLauncher.inRoot(Path.of("/"), program),
                  fake.folders,
                  FakeMps.CARD,
                  Duration.ofSeconds(10))
              .daemon();
      assertThat(answer)
          .isEqualTo(
              new Answer.Said(FakeMps.CARD.value() + " " + fake.folders.pipe().toString() + " -d"));
      assertThat(fake.folders.sharedMemory().resolve("vgpu-mps-was-here")).exists();
      assertThat(Path.of("/dev/shm/vgpu-mps-was-here")).doesNotExist();
    }
  }

  @Test
  void belowAnotherRootItFindsItsFoldersThere() throws Exception {
    assumeNamespaces();
    Path root = dir.resolve("driver-root");
    Files.createDirectories(root.resolve("dev/shm"));
    // static, since there is nothing else in that root
    Files.copy(Built.shim("shim-inspect"), root.resolve("program"));
    try (FakeMps fake = new FakeMps(dir.resolve("usage"))) {
      fake.folders.make(FakeMps::noMount);
      String pipe = fake.folders.pipe().toString();
      MpsLauncher launcher =
          (folders, arguments) ->
              MpsLauncher.inRoot(root, Path.of("/program")).words(folders, List.of(pipe));
      Answer answer =
          new MpsProgram(launcher, fake.folders, FakeMps.CARD, Duration.ofSeconds(10)).daemon();
      assertThat(answer)
          .as("it sees the folder, and says what it is")
          .isEqualTo(new Answer.Failed("status 2: shim-inspect: " + pipe + ": not a regular file"));
    }
  }

  private static void assumeNamespaces() throws Exception {
    assumeTrue(
        new ProcessBuilder("unshare", "--mount", "true")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor()
            == 0,
        "mount namespaces are not permitted here");
  }

  @Test
  void theWordsOfTheScriptAreFolderRootAndProgram() {
    List<String> words =
        MpsLauncher.inRoot(Path.of("/driver-root"), Path.of("/usr/bin/nvidia-cuda-mps-control"))
            .words(new MpsFolders(Path.of("/run/vgpu-manager/mps/GPU-1")), List.of("-d"));
    assertThat(words.subList(words.indexOf("mps"), words.size()))
        .containsExactly(
            "mps",
            "/run/vgpu-manager/mps/GPU-1",
            "/driver-root",
            "/usr/bin/nvidia-cuda-mps-control",
            "-d");
  }
}
