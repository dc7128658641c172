package io.vgpu.agent.posix;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Mounting a tmpfs of a bounded size, which the JDK cannot. Blocks; needs CAP_SYS_ADMIN only when a
 * mount is missing.
 */
public final class Mounts {
  private static final Path MOUNT_TABLE = Path.of("/proc/self/mountinfo");
  private static final long NOSUID = 2;
  private static final long NODEV = 4;
  private static final long NOEXEC = 8;
  private static final int DETACH = 2;

  /** The functions of libc that are used. */
  interface LibC extends Library {
    int mount(String source, String target, String type, long flags, @Nullable String data)
        throws LastErrorException;

    int umount2(String target, int flags) throws LastErrorException;

    Pointer strerror(int error);
  }

  private final LibC libc;

  public Mounts() {
    this(libc());
  }

  static LibC libc() {
    return Native.load("c", LibC.class);
  }

  Mounts(LibC libc) {
    this.libc = libc;
  }

  /**
   * Leaves a tmpfs that is mounted at {@code dir} alone; mounts one of {@code bytes} where none is.
   */
  public void ensureTmpfs(Path dir, long bytes) throws IOException {
    Path real = dir.toRealPath();
    String table = Files.readString(MOUNT_TABLE, StandardCharsets.UTF_8);
    if (MountTable.typeAt(table, real).filter("tmpfs"::equals).isPresent()) {
      return;
    }
    try {
      libc.mount(
          "vgpu-manager",
          real.toString(),
          "tmpfs",
          NOSUID | NODEV | NOEXEC,
          "mode=0711,size=" + bytes);
    } catch (LastErrorException e) {
      throw new IOException(
          dir
              + ": is no tmpfs, and mounting one failed: "
              + libc.strerror(e.getErrorCode()).getString(0),
          e);
    }
  }

  /**
   * Ends the mount of a tmpfs at {@code dir}, if there is one; whoever has a file of it open, or
   * mounted elsewhere, keeps that.
   */
  public void endTmpfs(Path dir) throws IOException {
    Path real = dir.toRealPath();
    String table = Files.readString(MOUNT_TABLE, StandardCharsets.UTF_8);
    if (MountTable.typeAt(table, real).filter("tmpfs"::equals).isEmpty()) {
      return;
    }
    try {
      libc.umount2(real.toString(), DETACH);
    } catch (LastErrorException e) {
      throw new IOException(
          dir + ": unmounting failed: " + libc.strerror(e.getErrorCode()).getString(0), e);
    }
  }
}
