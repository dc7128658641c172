package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What must be on the node before the first container: M with the library and its preload line, and
 * the tmpfs T (node-agent.md 1.8). Blocks; runs once at start.
 */
public final class ShimFolders {
  /** Bounds what tenants can take by growing their files; about 480 containers' worth. */
  public static final long USAGE_TMPFS_BYTES = 256L << 20;

  private static final int MAX_LIBRARY_BYTES = 64 << 20;

  private ShimFolders() {}

  /**
   * What was made.
   *
   * @param hostLibrary path of the library as the runtime sees it, to be mounted
   * @param hostPreload path of {@code ld.so.preload} as the runtime sees it
   */
  public record Installed(Path hostLibrary, Path hostPreload, long bootIdHash) {
    /** What follows {@code libvgpu-control.so.} in the library's name. */
    public String version() {
      return String.valueOf(hostLibrary.getFileName()).substring(Abi.LIBRARY_FILE.length() + 1);
    }
  }

  /** Sees to it that a tmpfs of a bounded size is mounted at a folder. */
  @FunctionalInterface
  public interface TmpfsMount {
    void ensure(Path folder, long bytes) throws IOException;
  }

  /** Hash of the running kernel's boot id. */
  public static long bootIdHash() throws IOException {
    return BootId.current();
  }

  /** Makes and checks everything; a failure names the path and what is wrong. */
  public static Installed prepare(ShimPaths paths, Path library, String version, TmpfsMount mount)
      throws IOException {
    Files.createDirectories(paths.managerDir());
    Disk.directory(paths.managerDir(), "rwxr-xr-x");
    Files.createDirectories(paths.usageDir());
    mount.ensure(paths.usageDir(), USAGE_TMPFS_BYTES);
    Disk.directory(paths.usageDir(), "rwx--x--x");

    String name = installLibrary(paths.managerDir(), library, version);
    byte[] line =
        (Abi.CONFIG_ROOT + "/" + Abi.DRIVER_DIR + "/" + Abi.LIBRARY_FILE + "\n")
            .getBytes(StandardCharsets.US_ASCII);
    Path preload = paths.managerDir().resolve(ShimPaths.PRELOAD_FILE);
    if (!holds(preload, line)) {
      Disk.replace(preload, ByteBuffer.wrap(line), "rw-r--r--", true);
    }
    return new Installed(
        paths.hostManagerDir().resolve(name),
        paths.hostManagerDir().resolve(ShimPaths.PRELOAD_FILE),
        BootId.current());
  }

  /**
   * Containers may have the file mapped: a name in use keeps its content for ever, other content
   * gets another name.
   */
  private static String installLibrary(Path dir, Path library, String version) throws IOException {
    byte[] content = read(library);
    String name = Abi.LIBRARY_FILE + "." + version;
    if (Files.exists(dir.resolve(name), LinkOption.NOFOLLOW_LINKS)
        && !holds(dir.resolve(name), content)) {
      name = name + "-" + hash(content);
    }
    if (!holds(dir.resolve(name), content)) {
      Disk.replace(dir.resolve(name), ByteBuffer.wrap(content), "rwxr-xr-x", true);
    }
    return name;
  }

  private static byte[] read(Path library) throws IOException {
    if (!Files.isRegularFile(library)) {
      throw new IOException("--shim-library " + library + ": must be a file");
    }
    try (FileChannel in = FileChannel.open(library, StandardOpenOption.READ)) {
      if (in.size() == 0 || in.size() > MAX_LIBRARY_BYTES) {
        throw new IOException(
            "--shim-library "
                + library
                + ": size "
                + in.size()
                + " must be 1 to "
                + MAX_LIBRARY_BYTES);
      }
    }
    return Files.readAllBytes(library);
  }

  private static boolean holds(Path file, byte[] content) throws IOException {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && Files.size(file) == content.length
        && MessageDigest.isEqual(Files.readAllBytes(file), content);
  }

  private static String hash(byte[] content) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(content))
          .substring(0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
