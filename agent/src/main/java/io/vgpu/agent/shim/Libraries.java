package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The versions of the injected library that lie in M (node-agent.md 1.8). Containers have the file
 * that their mounts name, at each of their starts again: a name keeps its content for ever, and
 * goes only when no container names it (13-42). Blocks.
 */
public final class Libraries {
  private final Path dir;
  private final Path source;
  private final String current;

  /**
   * @param dir M, as this process sees it
   * @param source what {@code current} was made from
   * @param current file name of what containers get from now on
   */
  public Libraries(Path dir, Path source, String current) {
    this.dir = dir;
    this.source = source;
    this.current = current;
  }

  /** The file name of what containers get from now on. */
  public String current() {
    return current;
  }

  /**
   * Puts the current one back if it is gone: an agent that waits has it there already, and one that
   * serves meanwhile may have taken it for one that nobody uses.
   */
  public void restore() throws IOException {
    Path file = dir.resolve(current);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      Disk.replace(file, ByteBuffer.wrap(Files.readAllBytes(source)), "rwxr-xr-x", true);
    }
  }

  /** Removes all but the current one and those in {@code used}; returns the names of what went. */
  public List<String> removeUnused(Set<String> used) throws IOException {
    List<String> removed = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, Abi.LIBRARY_FILE + ".*")) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        if (!name.equals(current)
            && !used.contains(name)
            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
            && Files.deleteIfExists(file)) {
          removed.add(name);
        }
      }
    }
    return removed;
  }
}
