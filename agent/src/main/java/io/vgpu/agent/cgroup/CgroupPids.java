package io.vgpu.agent.cgroup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds the container of a process of the host. Reads one small file of the kernel's, any thread; a
 * process that is gone has no owner. A pid may be another process's by then: who must know asks
 * twice.
 */
public final class CgroupPids {
  private static final int MAX_BYTES = 64 << 10;

  private final Path procRoot;

  /** {@code procRoot}: where the processes of the host are, as the driver counts them. */
  public CgroupPids(Path procRoot) {
    this.procRoot = procRoot;
  }

  /** The owner of a process, if it is a container's. */
  public Optional<CgroupOwner> owner(int pid) {
    Path file = procRoot.resolve(Integer.toUnsignedString(pid)).resolve("cgroup");
    try (InputStream in = Files.newInputStream(file)) {
      return CgroupFile.owner(new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return Optional.empty(); // it has ended
    }
  }
}
