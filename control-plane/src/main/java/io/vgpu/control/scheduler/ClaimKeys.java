package io.vgpu.control.scheduler;

import io.vgpu.claim.ClaimSeal;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the seal, which follow their file: a Secret is rotated under a running process (D5).
 * {@link #get} any thread; {@link #refresh} blocks on the disk.
 */
final class ClaimKeys implements Supplier<ClaimSeal> {
  private static final Logger log = LoggerFactory.getLogger(ClaimKeys.class);

  private final Path file;
  private volatile Loaded loaded;

  private record Loaded(String text, ClaimSeal seal) {}

  /** Reads the file; throws {@link UsageException} when it cannot be used. */
  ClaimKeys(Path file) {
    this.file = file;
    try {
      this.loaded = load(Files.readString(file));
    } catch (IOException e) {
      throw new UsageException("--claim-key-file " + file + ": cannot be read: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw new UsageException("--claim-key-file " + file + ": " + e.getMessage());
    }
  }

  private static Loaded load(String text) {
    return new Loaded(text, ClaimSeal.parse(text));
  }

  @Override
  public ClaimSeal get() {
    return loaded.seal();
  }

  /** Looks at the file again; true when there are other keys. A bad file leaves the old ones. */
  boolean refresh() {
    try {
      String text = Files.readString(file);
      if (text.equals(loaded.text())) {
        return false;
      }
      loaded = load(text);
      log.info("claim keys read again [file: {}]", file);
      return true;
    } catch (IOException | IllegalArgumentException e) {
      log.warn(
          "claim keys not renewed, the old ones stay [file: {}, cause: {}]", file, e.getMessage());
      return false;
    }
  }
}
