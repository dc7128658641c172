package io.vgpu.agent.shim;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * {@code usage} of a container: a file that the container may write, truncate and grow at any time,
 * so it is never mapped; positioned reads, and every value is checked (cuda-shim.md 3.6). Blocks on
 * nothing but memory (tmpfs).
 */
final class UsageReader {
  private UsageReader() {}

  /** What a look at the file found. */
  sealed interface State {
    /** Size, type and header are ours. */
    record Sound(Region.Header header) implements State {}

    /** Nothing is there. */
    record Absent() implements State {}

    /** Not what we made; why, for people. */
    record Broken(String why) implements State {}
  }

  /** Looks at size, type and header; whatever the bytes are, the answer is one of the three. */
  static State inspect(Path file) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return new State.Absent();
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return new State.Broken("not a regular file");
    }
    try (FileChannel in =
            FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        Arena arena = Arena.ofConfined()) {
      if (in.size() != Abi.USAGE_BYTES) {
        return new State.Broken("size " + in.size() + ", must be " + Abi.USAGE_BYTES);
      }
      MemorySegment copy = arena.allocate(Abi.HEADER_BYTES, 8);
      if (!readFully(in, copy.asByteBuffer())) {
        return new State.Broken("shrank while it was read");
      }
      return Region.USAGE
          .readHeader(copy)
          .<State>map(State.Sound::new)
          .orElseGet(() -> new State.Broken("no header of ours"));
    } catch (NoSuchFileException e) {
      return new State.Absent();
    }
  }

  /**
   * Makes the file what a fresh one is, in place (a mount holds the inode): sized, zeroed, with a
   * new epoch, the magic last. Only for containers that do not run. The pages are written, not left
   * as holes: a full tmpfs must not become a bus error in the container.
   */
  static void reset(Path file, int deviceCount, long writerEpoch, long bootIdHash)
      throws IOException {
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      out.truncate(Abi.USAGE_BYTES);
      zero(out, Abi.USAGE_BYTES);
    }
    writeHeader(file, new Region.Header(deviceCount, writerEpoch, bootIdHash));
  }

  /**
   * Gives {@code usage} its fixed size back while its container runs: what was cut off comes back
   * as zeros, written as pages; what was added goes. The rest stays as it is, but for a header that
   * is none: then it begins with {@code writerEpoch}.
   */
  static void setBack(Path file, int deviceCount, long writerEpoch, long bootIdHash)
      throws IOException {
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      long size = out.size();
      if (size > Abi.USAGE_BYTES) {
        out.truncate(Abi.USAGE_BYTES);
      } else {
        writeFully(out, ByteBuffer.allocate((int) (Abi.USAGE_BYTES - size)), size);
      }
    }
    if (inspect(file) instanceof State.Broken) {
      writeHeader(file, new Region.Header(deviceCount, writerEpoch, bootIdHash));
    }
  }

  private static void writeHeader(Path file, Region.Header fields) throws IOException {
    try (FileChannel out =
            FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        Arena arena = Arena.ofConfined()) {
      MemorySegment header = arena.allocate(Abi.HEADER_BYTES, 8);
      Region.USAGE.writeHeader(header, fields);
      writeFully(out, header.asByteBuffer(), 0);
      Region.USAGE.publish(header);
      writeFully(out, header.asSlice(Abi.Header.MAGIC, Integer.BYTES).asByteBuffer(), 0);
    }
  }

  /**
   * Gives {@code usage.lock} its fixed size back. Its bytes mean nothing, only locks on them do.
   */
  static void resetLock(Path file) throws IOException {
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      out.truncate(Abi.USAGE_LOCK_BYTES);
      zero(out, Abi.USAGE_LOCK_BYTES);
    }
  }

  private static void zero(FileChannel out, int bytes) throws IOException {
    writeFully(out, ByteBuffer.allocate(bytes), 0);
  }

  private static void writeFully(FileChannel out, ByteBuffer bytes, long at) throws IOException {
    long position = at;
    while (bytes.hasRemaining()) {
      position += out.write(bytes, position);
    }
  }

  private static boolean readFully(FileChannel in, ByteBuffer bytes) throws IOException {
    long position = 0;
    while (bytes.hasRemaining()) {
      int n = in.read(bytes, position);
      if (n <= 0) {
        return false;
      }
      position += n;
    }
    return true;
  }
}
