package io.vgpu.agent.kubelet;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/** Socket files in the kubelet's folder that killed agents left. Blocks. */
public final class DeadSockets {
  /** Of slots, cores, memory, slices, and of an agent that waited. */
  private static final String NAMES = "{nvidia-vgpu,.nvidia-vgpu,nvidia-mig-}*.sock*";

  private DeadSockets() {}

  /** Removes those of our names that nobody listens on; returns them. */
  public static List<Path> remove(Path folder) throws IOException {
    List<Path> removed = new ArrayList<>();
    if (!Files.isDirectory(folder)) {
      return removed;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, NAMES)) {
      for (Path file : files) {
        if (Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isOther()
            && !answers(file)
            && Files.deleteIfExists(file)) {
          removed.add(file);
        }
      }
    }
    return removed;
  }

  static boolean answers(Path socket) {
    try (SocketChannel caller = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return caller.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      return false; // no file, or one that a killed process left
    }
  }
}
