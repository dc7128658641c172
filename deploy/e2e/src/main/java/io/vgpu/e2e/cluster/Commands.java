package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs short commands of the machine (ip, openssl, ctr …) to their end, within a limit. */
final class Commands {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private Commands() {}

  /** Exit status and everything the command printed, standard error included. */
  record Result(List<String> command, int exit, String output) {
    boolean ok() {
      return exit == 0;
    }
  }

  /**
   * Runs the command and returns how it ended; a command that cannot start or does not end is an
   * exception.
   */
  static Result run(List<String> command) {
    return run(command, LIMIT);
  }

  static Result run(List<String> command, Duration limit) {
    Path output = null;
    try {
      // a file, not a pipe: a pipe that a grandchild keeps open would make the limit worthless
      output = Files.createTempFile("vgpu-cluster-", ".out");
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw new ClusterException(
            "gave up after " + limit.toSeconds() + " s: " + String.join(" ", command));
      }
      return new Result(
          command, process.exitValue(), Files.readString(output, StandardCharsets.UTF_8).strip());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + String.join(" ", command), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while running " + String.join(" ", command), e);
    } finally {
      if (output != null) {
        deleteQuietly(output);
      }
    }
  }

  /**
   * Runs the command and returns what it printed; a non-zero exit is an exception that carries it.
   */
  static String must(String... command) {
    return must(List.of(command));
  }

  static String must(List<String> command) {
    Result result = run(command);
    if (!result.ok()) {
      throw new ClusterException(
          String.join(" ", command) + " ended with " + result.exit() + ": " + result.output());
    }
    return result.output();
  }

  private static void deleteQuietly(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove the temporary file " + file, e);
    }
  }
}
