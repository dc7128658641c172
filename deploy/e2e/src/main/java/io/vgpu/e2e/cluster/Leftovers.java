package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds and removes what a cluster leaves behind when its parts die without a word: shims,
 * containers, mounts, cgroups, namespaces, sockets. Needs none of the parts alive.
 */
public final class Leftovers {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
  private static final Path CONTAINER_LOG_LINKS = Path.of("/var/log/containers");

  /**
   * containerd's shims, other people's too, keep their sockets in one place whatever the
   * configuration says.
   */
  private static final Pattern SHIM_SOCKET = Pattern.compile("/run/containerd/s/[0-9a-f]{64}");

  private final ClusterPaths paths;
  private final String netns;

  public Leftovers(ClusterPaths paths, String netns) {
    this.paths = paths;
    this.netns = netns;
  }

  /**
   * Everything of the cluster that this machine still holds, one line each; empty after a clean
   * stop.
   */
  public List<String> list() {
    List<String> found = new ArrayList<>();
    for (RecordedProcess process : RecordedProcess.in(paths.pidFiles())) {
      if (process.isAlive()) {
        found.add("process " + process.name() + " " + process.id().pid());
      }
    }
    shims().forEach(pid -> found.add("shim " + pid));
    mounts().forEach(mount -> found.add("mount " + mount));
    podCgroups().forEach(cgroup -> found.add("cgroup " + cgroup));
    Stream.of(
            Path.of("/run/netns", netns),
            Path.of("/sys/class/net", NodeNetwork.hostInterface(netns)))
        .filter(Files::exists)
        .forEach(path -> found.add("network " + path));
    children(ClusterPaths.DEVICE_PLUGINS).forEach(path -> found.add("file " + path));
    shimSockets().forEach(path -> found.add("socket " + path));
    KernelSettings.changed(paths)
        .forEach((key, was) -> found.add("setting " + key + ", was " + was));
    return found;
  }

  /** Removes all of it but the logs. What cannot be removed is an exception that names it. */
  void remove() {
    for (RecordedProcess process : RecordedProcess.in(paths.pidFiles())) {
      process.kill9();
    }
    kill(shims());
    podCgroups().forEach(cgroup -> kill(processesBelow(cgroup)));
    Await.until("mounts below " + paths.runDir() + " to go", LIMIT, this::unmountAll);
    Await.until("the pods' cgroups to empty", LIMIT, this::removeCgroups);
    NodeNetwork.down(netns);
    KernelSettings.restore(paths);
    removeContainerLogLinks();
    children(ClusterPaths.DEVICE_PLUGINS).forEach(Leftovers::deleteTree);
    shimSockets().forEach(Leftovers::deleteTree);
    for (Path child : children(paths.runDir())) {
      if (!child.equals(paths.logs())) {
        deleteTree(child);
      }
    }
  }

  /** containerd's shims: one for each pod whose sandbox lives. */
  List<Long> shims() {
    String mark = "-address\0" + paths.containerdSocket() + "\0";
    return pids().filter(pid -> commandLine(pid).contains(mark)).toList();
  }

  /** What the shims' bundles name as their sockets, as far as they exist. */
  private List<Path> shimSockets() {
    Path tasks = paths.containerd().resolve("state/io.containerd.runtime.v2.task/k8s.io");
    return children(tasks).stream()
        .flatMap(bundle -> Stream.of(bundle.resolve("bootstrap.json"), bundle.resolve("address")))
        .flatMap(file -> text(file).stream())
        .flatMap(content -> SHIM_SOCKET.matcher(content).results())
        .map(match -> Path.of(match.group()))
        .distinct()
        .filter(Files::exists)
        .toList();
  }

  private static void kill(List<Long> pids) {
    List<ProcessId> victims = pids.stream().flatMap(pid -> ProcessId.of(pid).stream()).toList();
    victims.forEach(victim -> victim.signal("KILL"));
    Await.until(
        "killed processes " + pids + " to go",
        LIMIT,
        () -> victims.stream().noneMatch(ProcessId::isAlive));
  }

  /** Mount points below the run folder, deepest last mounted first. */
  private List<String> mounts() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/mounts"))) {
      return lines
          .map(line -> line.split(" ", -1)[1].replace("\\040", " "))
          .filter(mount -> mount.startsWith(paths.runDir() + "/"))
          .toList()
          .reversed();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the mounts", e);
    }
  }

  private boolean unmountAll() {
    for (String mount : mounts()) {
      // lazily: a container's own mount namespace may hold it a moment longer; mounts() tells
      // whether it is gone for us
      Commands.run(List.of("umount", "-l", mount));
    }
    return mounts().isEmpty();
  }

  /** The kubelet's cgroup in every hierarchy: cgroup v2, and each controller of v1. */
  private static List<Path> podCgroups() {
    List<Path> found = new ArrayList<>();
    Stream.concat(Stream.of(CGROUPS), children(CGROUPS).stream())
        .map(root -> root.resolve("kubepods"))
        .filter(Files::isDirectory)
        .forEach(found::add);
    return found;
  }

  /** Processes in any pod of this machine, whosever. */
  static List<Long> podProcesses() {
    return podCgroups().stream()
        .flatMap(cgroup -> processesBelow(cgroup).stream())
        .distinct()
        .toList();
  }

  private static List<Long> processesBelow(Path cgroup) {
    List<Long> pids = new ArrayList<>();
    for (Path folder : foldersBelow(cgroup)) {
      text(folder.resolve("cgroup.procs"))
          .ifPresent(
              t -> t.lines().filter(l -> !l.isBlank()).map(Long::valueOf).forEach(pids::add));
    }
    return pids;
  }

  private boolean removeCgroups() {
    for (Path cgroup : podCgroups()) {
      for (Path folder : foldersBelow(cgroup).reversed()) {
        // fails while a process or a dead process' page keeps it; the caller comes again
        if (!folder.toFile().delete() && Files.exists(folder)) {
          return false;
        }
      }
    }
    return podCgroups().isEmpty();
  }

  private static List<Path> foldersBelow(Path root) {
    List<Path> folders = new ArrayList<>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes a) {
              folders.add(folder);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              return FileVisitResult.CONTINUE; // gone meanwhile
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException("cannot walk " + root, e);
    }
    return folders;
  }

  private void removeContainerLogLinks() {
    for (Path link : children(CONTAINER_LOG_LINKS)) {
      try {
        if (Files.isSymbolicLink(link)
            && Files.readSymbolicLink(link).startsWith(paths.podLogs())) {
          Files.delete(link);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("cannot remove " + link, e);
      }
    }
  }

  static void deleteTree(Path root) {
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e)
                throws IOException {
              if (e != null) {
                throw e;
              }
              Files.delete(folder);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove " + root, e);
    }
  }

  private static List<Path> children(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted(Comparator.naturalOrder()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + folder, e);
    }
  }

  static Stream<Long> pids() {
    return children(Path.of("/proc")).stream()
        .map(p -> p.getFileName().toString())
        .filter(name -> name.matches("[0-9]+"))
        .map(Long::valueOf);
  }

  static String commandLine(long pid) {
    return text(Path.of("/proc", Long.toString(pid), "cmdline")).orElse("");
  }

  /** Content of a file of the kernel's that may vanish while it is read. */
  private static Optional<String> text(Path file) {
    try {
      return Optional.of(KernelFile.read(file));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
