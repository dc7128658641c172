package io.vgpu.agent.posix;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads {@code /proc/self/mountinfo}. Pure. */
final class MountTable {
  private MountTable() {}

  /**
   * The file system type of the topmost mount exactly at {@code dir}; empty when nothing is mounted
   * there.
   */
  static Optional<String> typeAt(String table, Path dir) {
    Optional<String> type = Optional.empty();
    for (String line : table.lines().toList()) {
      // id parent major:minor root mountpoint options [tags…] - type source superoptions
      List<String> words = List.of(line.split(" "));
      int dash = words.indexOf("-");
      if (words.size() > 4 && dash > 4 && dash + 1 < words.size()) {
        if (unescape(words.get(4)).equals(dir.toString())) {
          type = Optional.of(words.get(dash + 1)); // later lines lie above earlier ones
        }
      }
    }
    return type;
  }

  /** The kernel writes blank, tab, newline and backslash as three octal digits. */
  private static String unescape(String path) {
    return path.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
