package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;

/**
 * Held while a cluster starts or stops, so that two commands at once do not clean up each other's
 * work.
 */
final class MachineLock implements AutoCloseable {
  private final FileChannel channel;

  private MachineLock(FileChannel channel) {
    this.channel = channel;
  }

  /** Waits at most two minutes for another start or stop to end. */
  static MachineLock take() {
    try {
      FileChannel channel =
          FileChannel.open(
              ClusterPaths.MACHINE_LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      Await.present(
          "another start or stop of a cluster to end",
          Duration.ofMinutes(2),
          () -> tryLock(channel));
      return new MachineLock(channel);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open " + ClusterPaths.MACHINE_LOCK, e);
    }
  }

  private static Optional<FileLock> tryLock(FileChannel channel) {
    try {
      return Optional.ofNullable(channel.tryLock());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot lock " + ClusterPaths.MACHINE_LOCK, e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot release " + ClusterPaths.MACHINE_LOCK, e);
    }
  }
}
