package io.vgpu.agent.cgroup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Looks at processes of the host: small files of the kernel's, which no process can delay or write,
 * any thread. A pid is looked at before and after, so that what is said is of one process.
 */
public final class HostProcesses {
  private static final int MAX_BYTES = 64 << 10;
  private static final int START_TIME = 22;
  private static final String NS_PID = "NSpid:";

  private final Path procRoot;
  private final CgroupPids cgroups;

  /**
   * {@code procRoot}: where the processes of the host are, as sockets and the driver count them.
   */
  public HostProcesses(Path procRoot) {
    this.procRoot = procRoot;
    this.cgroups = new CgroupPids(procRoot);
  }

  /** The process that has this pid now; empty if it ends meanwhile. */
  public Optional<HostProcess> look(int pid) {
    OptionalLong before = startTime(pid);
    if (before.isEmpty()) {
      return Optional.empty();
    }
    Optional<CgroupOwner> owner = cgroups.owner(pid);
    OptionalInt inner = innerPid(pid);
    return inner.isPresent() && startTime(pid).equals(before)
        ? Optional.of(new HostProcess(pid, before.getAsLong(), inner.getAsInt(), owner))
        : Optional.empty();
  }

  /** When the process that has this pid now was started; empty if there is none, or a zombie. */
  public OptionalLong startTime(int pid) {
    String stat = read(pid, "stat");
    // the name may hold anything, also brackets; what follows are words
    String[] words = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
    if (words.length <= START_TIME - 3 || words[0].equals("Z") || words[0].equals("X")) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseUnsignedLong(words[START_TIME - 3]));
    } catch (NumberFormatException e) {
      return OptionalLong.empty(); // not a file of the kernel's
    }
  }

  /** The last of the pids that a process has, outermost first; its names cannot hold a newline. */
  private OptionalInt innerPid(int pid) {
    String status = read(pid, "status");
    Optional<String> line = status.lines().filter(l -> l.startsWith(NS_PID)).findFirst();
    if (line.isEmpty()) {
      return OptionalInt.empty();
    }
    String[] pids = line.get().substring(NS_PID.length()).strip().split("\\s+", -1);
    try {
      return OptionalInt.of(Integer.parseInt(pids[pids.length - 1]));
    } catch (NumberFormatException e) {
      return OptionalInt.empty(); // a process that ended has an empty line
    }
  }

  private String read(int pid, String name) {
    Path file = procRoot.resolve(Integer.toUnsignedString(pid)).resolve(name);
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return ""; // it has ended
    }
  }
}
