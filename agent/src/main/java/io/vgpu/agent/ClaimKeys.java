package io.vgpu.agent;

import io.vgpu.claim.ClaimSeal;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The seal of claims by the keys in a file, read again when the file changes, so that keys rotate
 * without a restart (D5). A file that became unreadable leaves the last keys in force. Looks at the
 * file at each call; any thread.
 */
final class ClaimKeys implements Supplier<ClaimSeal> {
  private static final Logger log = LoggerFactory.getLogger(ClaimKeys.class);
  private static final int MAX_BYTES = 64 * 1024;

  private final Path file;
  private Loaded loaded; // guarded by this

  private record Loaded(ClaimSeal seal, FileTime changed) {}

  /** Reads the file; one that cannot be used is refused by name. */
  ClaimKeys(Path file) {
    this.file = file;
    try {
      this.loaded = load();
    } catch (IOException | IllegalArgumentException e) {
      throw new UsageException("--claim-key-file " + file + ": " + e.getMessage());
    }
  }

  @Override
  public synchronized ClaimSeal get() {
    try {
      if (!Files.getLastModifiedTime(file).equals(loaded.changed())) {
        loaded = load();
        log.info("claim keys read again [file: {}]", file);
      }
    } catch (IOException | IllegalArgumentException e) {
      log.warn("claim keys stay as they were [file: {}, cause: {}]", file, e.toString());
    }
    return loaded.seal();
  }

  private Loaded load() throws IOException {
    // the time first: a change in between is then seen at the next call
    FileTime changed = Files.getLastModifiedTime(file);
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException("more than " + MAX_BYTES + " bytes");
    }
    return new Loaded(ClaimSeal.parse(Files.readString(file)), changed);
  }
}
