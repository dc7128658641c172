package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes M and T off a node that we leave (node-agent.md 1.8). Only what is known to be ours goes,
 * links are never followed. Blocks; nobody serves the node meanwhile.
 */
public final class NodeFolders {
  private static final Set<String> OURS =
      Set.of(
          ShimPaths.PRELOAD_FILE,
          Abi.LIBRARY_FILE,
          Abi.REGISTRY_DIR,
          "checkpoints",
          "claims",
          "tools",
          "watcher",
          "mps");

  private final ShimPaths paths;

  public NodeFolders(ShimPaths paths) {
    this.paths = paths;
  }

  /** Ends the mount of the tmpfs at a folder, if there is one. */
  @FunctionalInterface
  public interface TmpfsEnd {
    void unmount(Path folder) throws IOException;
  }

  /**
   * Removes all that is ours, and the two folders where nothing else is in them. Returns the paths
   * of what is not ours and therefore stays.
   */
  public List<Path> remove(TmpfsEnd mount) throws IOException {
    List<Path> stay = new ArrayList<>();
    if (Files.isDirectory(paths.usageDir(), LinkOption.NOFOLLOW_LINKS)) {
      mount.unmount(paths.usageDir());
      empty(paths.usageDir(), stay);
    }
    empty(paths.managerDir(), stay);
    return stay;
  }

  private static void empty(Path folder, List<Path> stay) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    int left = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        if (isOurs(String.valueOf(entry.getFileName()))) {
          delete(entry);
        } else {
          stay.add(entry);
          left++;
        }
      }
    }
    if (left == 0) {
      try {
        Files.deleteIfExists(folder);
      } catch (IOException e) {
        stay.add(folder); // in a container it is a mount itself
      }
    }
  }

  private static boolean isOurs(String name) {
    return OURS.contains(name)
        || name.startsWith(Abi.LIBRARY_FILE + ".")
        || ShimPaths.owner(name).isPresent();
  }

  private static void delete(Path tree) throws IOException {
    Files.walkFileTree(
        tree,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.delete(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
