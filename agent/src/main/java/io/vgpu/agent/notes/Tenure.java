package io.vgpu.agent.notes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whose turn it is to write a node's notes and regions and to serve its kubelet: one process at a
 * time, by a lock on a file. The kernel ends the tenure of a process that is killed; one that ends
 * in order says first until when it served. Any thread; {@link #await} blocks.
 */
public final class Tenure implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Tenure.class);

  /** Part of the gap in which nobody serves (D22), and one system call a look. */
  private static final Duration LOOK = Duration.ofMillis(2);

  private static final Pattern YIELDED = Pattern.compile("yielded (-?[0-9]{1,19})\n");
  private static final int MAX_BYTES = 64;

  /**
   * How a tenure began.
   *
   * @param servedUntil the moment at which a predecessor that we waited for ceased to serve, by the
   *     machine's monotonic clock; empty when there was none, or when it ended without a word
   */
  public record Begun(OptionalLong servedUntil) {
    /** Whether a living predecessor left everything in order just now. */
    public boolean isHandedOver() {
      return servedUntil.isPresent();
    }
  }

  private final Path file;
  private volatile boolean closed;

  // guarded by this
  private @Nullable FileChannel channel;
  private @Nullable FileLock lock;

  /** {@code file} is made if it is absent, and stays. */
  public Tenure(Path file) {
    this.file = file;
  }

  /**
   * Blocks until the tenure is ours; empty when {@link #close} came first. {@code waiting} runs
   * once, if another process has it.
   */
  public Optional<Begun> await(Runnable waiting) throws IOException {
    boolean waited = false;
    while (!closed) {
      if (take()) {
        OptionalLong until = waited ? servedUntil() : OptionalLong.empty();
        write("held\n");
        return Optional.of(new Begun(until));
      }
      if (!waited) {
        waited = true;
        waiting.run();
      }
      LockSupport.parkNanos(LOOK.toNanos());
    }
    return Optional.empty();
  }

  /** Whether it is ours. */
  public synchronized boolean isHeld() {
    return lock != null;
  }

  /** Ends our tenure: everything is written, and we served until then. */
  public synchronized void end(long servedUntilNanos) throws IOException {
    if (lock != null) {
      write("yielded " + servedUntilNanos + "\n");
    }
    close();
  }

  /** Ends waiting, and our tenure without a word. */
  @Override
  public synchronized void close() {
    closed = true;
    FileChannel open = channel;
    channel = null;
    lock = null;
    if (open != null) {
      try {
        open.close(); // the lock goes with it
      } catch (IOException e) {
        log.warn("tenure not closed [file: {}, cause: {}]", file, e.toString());
      }
    }
  }

  private synchronized boolean take() throws IOException {
    FileChannel open = channel;
    if (open == null) {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      open =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      channel = open;
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
    try {
      lock = open.tryLock();
    } catch (OverlappingFileLockException e) {
      return false; // another one of this very process
    }
    return lock != null;
  }

  private synchronized OptionalLong servedUntil() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
    if (channel != null) {
      int unused = channel.read(bytes, 0);
    }
    Matcher m =
        YIELDED.matcher(new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII));
    try {
      return m.matches() ? OptionalLong.of(Long.parseLong(m.group(1))) : OptionalLong.empty();
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  private synchronized void write(String text) throws IOException {
    if (channel != null) {
      channel.truncate(0);
      int unused = channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
    }
  }
}
