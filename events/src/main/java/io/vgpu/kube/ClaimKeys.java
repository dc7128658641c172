package io.vgpu.kube;

import io.vgpu.claim.ClaimSeal;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the seal, which follow their file: a Secret is rotated under a running process (D5).
 * A file that became unusable leaves the last keys in force. {@link #get} any thread, from memory;
 * {@link #refresh} looks at the disk, and reads only a file that is not the one it read before.
 */
public final class ClaimKeys implements Supplier<ClaimSeal> {
  private static final Logger log = LoggerFactory.getLogger(ClaimKeys.class);
  private static final int MAX_BYTES = 64 * 1024;

  private final Path file;
  private volatile Loaded loaded;
  private Stamp read = Stamp.NONE;
  private boolean readTwice;

  private record Loaded(String text, ClaimSeal seal) {}

  /** What changes when a file is replaced, or written to. */
  private record Stamp(Object inode, FileTime modified, long bytes) {
    static final Stamp NONE = new Stamp("", FileTime.fromMillis(0), -1);

    static Stamp of(Path file) throws IOException {
      BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
      return new Stamp(
          Objects.requireNonNullElse(now.fileKey(), ""), now.lastModifiedTime(), now.size());
    }
  }

  /**
   * Reads the file of {@code --claim-key-file}; throws {@link UsageException} if it is unusable.
   */
  public ClaimKeys(Path file) {
    this.file = file;
    try {
      String text = read();
      this.loaded = new Loaded(text, ClaimSeal.parse(text));
    } catch (IOException e) {
      throw new UsageException("--claim-key-file " + file + ": cannot be read: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw new UsageException("--claim-key-file " + file + ": " + e.getMessage());
    }
  }

  @Override
  public ClaimSeal get() {
    return loaded.seal();
  }

  /** Looks at the file again; true when there are other keys now. */
  public synchronized boolean refresh() {
    try {
      Stamp present = Stamp.of(file);
      boolean same = present.equals(read);
      if (same && readTwice) {
        return false;
      }
      // once more at the next look: a clock's tick may have two writes in it
      readTwice = same;
      read = present;
      String text = read();
      if (text.equals(loaded.text())) {
        return false;
      }
      loaded = new Loaded(text, ClaimSeal.parse(text));
      log.info("claim keys read again [file: {}]", file);
      return true;
    } catch (IOException e) {
      read = Stamp.NONE; // what could not be read now may be at the next look
      return stay(e);
    } catch (IllegalArgumentException e) {
      return stay(e);
    }
  }

  private boolean stay(Exception e) {
    log.warn("claim keys stay as they were [file: {}, cause: {}]", file, e.toString());
    return false;
  }

  private String read() throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException("more than " + MAX_BYTES + " bytes");
    }
    return Files.readString(file);
  }
}
