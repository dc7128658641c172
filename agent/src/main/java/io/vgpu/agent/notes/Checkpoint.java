package io.vgpu.agent.notes;

import io.vertx.core.Future;
import io.vgpu.claim.FormatException;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thing that is known, on disk: replaced as a whole and durably, so that an agent killed at any
 * moment knows what it said. All work is on lane {@code files}. A file that cannot be read is set
 * aside, never overwritten.
 */
public final class Checkpoint<T> {
  /**
   * How it is written.
   *
   * @param decode throws {@link FormatException} for whatever {@code encode} does not write
   * @param empty what is known where there is no file
   * @param maxBytes a longer file is not read
   */
  public record Codec<T>(
      Function<T, String> encode, Function<String, T> decode, T empty, long maxBytes) {}

  private static final Logger log = LoggerFactory.getLogger(Checkpoint.class);

  private final Path file;
  private final Codec<T> codec;
  private final Lane files;
  private final Clock clock;

  public Checkpoint(Path file, Codec<T> codec, Lane files, Clock clock) {
    this.file = file;
    this.codec = codec;
    this.files = files;
    this.clock = clock;
  }

  /** What was last written; empty when there is nothing, or nothing that can be read. */
  public Future<T> load() {
    return files.call(this::read);
  }

  /** Replaces the file: complete on disk when the future succeeds, unchanged when it fails. */
  public Future<Void> save(T known) {
    return files.call(
        () -> {
          write(codec.encode().apply(known));
          return null;
        });
  }

  private T read() throws IOException {
    Files.createDirectories(
        folder(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    try {
      if (Files.size(file) > codec.maxBytes()) {
        throw new FormatException("checkpoint of " + Files.size(file) + " bytes is too large");
      }
      return codec.decode().apply(Files.readString(file));
    } catch (NoSuchFileException e) {
      return codec.empty();
    } catch (FormatException | CharacterCodingException e) {
      Path aside = file.resolveSibling(file.getFileName() + ".corrupt-" + clock.millis());
      Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
      log.error(
          "checkpoint cannot be read, it is set aside [file: {}, aside: {}, cause: {}]",
          file,
          aside,
          e.toString());
      return codec.empty();
    }
  }

  private void write(String text) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel folder = FileChannel.open(folder(), StandardOpenOption.READ)) {
      folder.force(true); // the rename itself, or a power cut brings the old file back
    }
  }

  private Path folder() {
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null) {
      throw new IllegalStateException("checkpoint " + file + " must lie in a folder");
    }
    return parent;
  }
}
