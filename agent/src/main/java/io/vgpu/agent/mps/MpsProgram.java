package io.vgpu.agent.mps;

import io.vgpu.model.GpuUuid;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One run of the daemon's program, within a time limit. Blocks: lane {@code mps-<index>} only. */
final class MpsProgram {
  private static final int MAX_ANSWER = 64 << 10;

  /** How a run ended. */
  sealed interface Answer {
    /** With status 0. */
    record Said(String text) implements Answer {}

    /** Otherwise, or not at all. */
    record Failed(String why) implements Answer {}
  }

  private final MpsLauncher launcher;
  private final MpsFolders folders;
  private final GpuUuid card;
  private final Duration limit;

  MpsProgram(MpsLauncher launcher, MpsFolders folders, GpuUuid card, Duration limit) {
    this.launcher = launcher;
    this.folders = folders;
    this.card = card;
    this.limit = limit;
  }

  /** Starts the daemon in the background. */
  Answer daemon() {
    return run(List.of("-d"), "");
  }

  /** Says one line to the daemon. */
  Answer tell(String command) {
    return run(List.of(), command + "\n");
  }

  private Answer run(List<String> arguments, String input) {
    Path question = folders.own().resolve("question");
    // a file, since the daemon keeps what it was started with: a pipe would never end
    Path answer = folders.own().resolve("answer");
    try {
      Files.createDirectories(folders.own());
      Files.writeString(question, input);
      ProcessBuilder builder =
          new ProcessBuilder(launcher.words(folders, arguments))
              .redirectInput(question.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.to(answer.toFile()));
      Map<String, String> environment = builder.environment();
      environment.put("CUDA_VISIBLE_DEVICES", card.value());
      environment.put("CUDA_MPS_PIPE_DIRECTORY", folders.pipe().toString());
      environment.put("CUDA_MPS_LOG_DIRECTORY", folders.log().toString());
      Process process = builder.start();
      if (!ended(process)) {
        process.destroyForcibly();
        return new Answer.Failed("no answer within " + limit);
      }
      String text = read(answer.toFile());
      return process.exitValue() == 0
          ? new Answer.Said(text)
          : new Answer.Failed("status " + process.exitValue() + ": " + text);
    } catch (IOException e) {
      return new Answer.Failed(String.valueOf(e.getMessage()));
    }
  }

  private boolean ended(Process process) {
    try {
      return process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the lane is being closed
      return false;
    }
  }

  private static String read(File file) throws IOException {
    try (var in = Files.newInputStream(file.toPath())) {
      return new String(in.readNBytes(MAX_ANSWER), StandardCharsets.UTF_8).strip();
    }
  }
}
