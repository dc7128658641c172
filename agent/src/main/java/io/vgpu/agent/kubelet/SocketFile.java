package io.vgpu.agent.kubelet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which socket file stands under a name. The inode alone would not do: a file made right after
 * another was removed may get the same number.
 */
record SocketFile(Object inode, Object changed) {
  /** The file at {@code path} now; null when there is none. */
  static @Nullable SocketFile of(Path path) {
    try {
      Map<String, Object> a =
          Files.readAttributes(path, "unix:ino,ctime", LinkOption.NOFOLLOW_LINKS);
      return new SocketFile(String.valueOf(a.get("ino")), String.valueOf(a.get("ctime")));
    } catch (IOException e) {
      return null; // absent, or being replaced: the next look tells
    }
  }
}
