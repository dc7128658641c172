package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

/**
 * Says that this machine runs a cluster, where its run folder lies and whose it is. One cluster a
 * machine: the kubelet's device-plugin folder and cgroups are fixed.
 *
 * @param owner the JVM that stops it at its own end; empty when it lives until {@code stop}
 */
record MachineMarker(Path runDir, String netns, Optional<ProcessId> owner) {

  static Optional<MachineMarker> read() {
    return read(ClusterPaths.MACHINE_MARKER);
  }

  static Optional<MachineMarker> read(Path file) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      Properties text = new Properties();
      text.load(new StringReader(Files.readString(file)));
      String runDir = text.getProperty("runDir");
      String netns = text.getProperty("netns");
      if (runDir == null || netns == null) {
        throw new ClusterException(file + ": runDir and netns expected");
      }
      return Optional.of(
          new MachineMarker(
              Path.of(runDir),
              netns,
              Optional.ofNullable(text.getProperty("owner")).map(ProcessId::parse)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  void write() {
    write(ClusterPaths.MACHINE_MARKER);
  }

  void write(Path file) {
    String text =
        "runDir=%s\nnetns=%s\n".formatted(runDir, netns)
            + owner.map(o -> "owner=" + o + "\n").orElse("");
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  static void remove() {
    try {
      Files.deleteIfExists(ClusterPaths.MACHINE_MARKER);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove " + ClusterPaths.MACHINE_MARKER, e);
    }
  }

  /** Whether any process that the cluster wrote down still runs. */
  boolean anyAlive() {
    return RecordedProcess.in(new ClusterPaths(runDir).pidFiles()).stream()
        .anyMatch(RecordedProcess::isAlive);
  }

  /** A cluster that nobody will stop: its owner has ended, or all its processes are dead. */
  boolean isAbandoned() {
    return owner.map(o -> !o.isAlive()).orElse(false) || !anyAlive();
  }
}
