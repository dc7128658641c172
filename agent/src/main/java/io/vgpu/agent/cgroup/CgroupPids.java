package io.vgpu.agent.cgroup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the container of a process of the host. Reads one small file of the kernel's, any thread; a
 * process that is gone has no owner. A pid may be another process's by then: who must know asks
 * twice.
 */
public final class CgroupPids {
  private static final int MAX_BYTES = 64 << 10;

  // who has contexts is asked for several times a second, and what a text says never changes
  private static final int MOST_KNOWN = 512;
  private static final int LONGEST_KNOWN = 1 << 10; // nested containers may make them long

  private final Path procRoot;
  private final Map<String, Optional<CgroupOwner>> known =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Optional<CgroupOwner>> oldest) {
              return size() > MOST_KNOWN;
            }
          });

  /** {@code procRoot}: where the processes of the host are, as the driver counts them. */
  public CgroupPids(Path procRoot) {
    this.procRoot = procRoot;
  }

  /** The owner of a process, if it is a container's. */
  public Optional<CgroupOwner> owner(int pid) {
    Path file = procRoot.resolve(Integer.toUnsignedString(pid)).resolve("cgroup");
    try (InputStream in = Files.newInputStream(file)) {
      String text = new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
      return text.length() > LONGEST_KNOWN
          ? CgroupFile.owner(text)
          : known.computeIfAbsent(text, CgroupFile::owner);
    } catch (IOException e) {
      return Optional.empty(); // it has ended
    }
  }
}
