package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process that some JVM, perhaps an earlier one, started and wrote down in a pid file. Can be
 * looked at and ended, not started again.
 */
record RecordedProcess(String name, ProcessId id, Path pidFile) {
  static final String SUFFIX = ".pid";

  /** What a pid file says; empty when there is none. */
  static Optional<RecordedProcess> read(Path pidFile) {
    if (!Files.exists(pidFile)) {
      return Optional.empty();
    }
    try {
      String file = pidFile.getFileName().toString();
      String name = file.substring(0, file.length() - SUFFIX.length());
      return Optional.of(
          new RecordedProcess(name, ProcessId.parse(Files.readString(pidFile)), pidFile));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + pidFile, e);
    } catch (IllegalArgumentException e) {
      throw new ClusterException(pidFile + " is no pid file of ours; remove it", e);
    }
  }

  /** All processes written down in the folder, by name. */
  static List<RecordedProcess> in(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    List<RecordedProcess> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      files
          .filter(f -> f.getFileName().toString().endsWith(SUFFIX))
          .sorted(Comparator.naturalOrder())
          .forEach(f -> read(f).ifPresent(found::add));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + folder, e);
    }
    return found;
  }

  boolean isAlive() {
    return id.isAlive();
  }

  /** Ends it with SIGKILL and waits until the kernel has let go of it. */
  void kill9() {
    id.signal("KILL");
    Await.until(name + " (pid " + id.pid() + ") to die", Duration.ofSeconds(20), () -> !isAlive());
    forget();
  }

  /** Ends it with SIGTERM, and with SIGKILL when it has not gone within the limit. */
  void stop(Duration limit) {
    id.signal("TERM");
    if (!Await.holdsWithin(limit, () -> !isAlive())) {
      kill9();
    }
    forget();
  }

  private void forget() {
    try {
      Files.deleteIfExists(pidFile);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove " + pidFile, e);
    }
  }
}
