package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * One process for good: its pid, its start in clock ticks since boot, and the boot. A pid alone is
 * given out again; killing by it could hit a stranger.
 */
public record ProcessId(long pid, long startTicks, String bootId) {
  public ProcessId {
    if (pid <= 1 || startTicks < 0 || bootId.isBlank() || bootId.contains(" ")) {
      throw new IllegalArgumentException(
          "process id: pid " + pid + ", start " + startTicks + ", boot '" + bootId + "'");
    }
  }

  /** The process that has this pid now; empty when there is none or it is only a zombie. */
  public static Optional<ProcessId> of(long pid) {
    return read(Path.of("/proc", Long.toString(pid), "stat"))
        .flatMap(ProcessId::startOfLiving)
        .map(start -> new ProcessId(pid, start, currentBoot()));
  }

  /** Reads what {@link #toString()} wrote. */
  public static ProcessId parse(String text) {
    List<String> words = List.of(text.strip().split(" ", -1));
    if (words.size() != 3) {
      throw new IllegalArgumentException("process id '" + text + "': pid, start and boot expected");
    }
    return new ProcessId(Long.parseLong(words.get(0)), Long.parseLong(words.get(1)), words.get(2));
  }

  /** Field 22 of /proc/PID/stat, unless the state says that the process has ended. */
  static Optional<Long> startOfLiving(String stat) {
    // the command's name stands in brackets and may hold blanks and brackets itself
    List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1));
    String state = fields.getFirst();
    return state.equals("Z") || state.equals("X")
        ? Optional.empty()
        : Optional.of(Long.parseLong(fields.get(19)));
  }

  /** Whether exactly this process still runs. */
  public boolean isAlive() {
    return of(pid).filter(this::equals).isPresent();
  }

  /** The executable behind the process, as the kernel names it; empty once it has ended. */
  public Optional<Path> executable() {
    try {
      return isAlive()
          ? Optional.of(Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "exe")))
          : Optional.empty();
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the executable of pid " + pid, e);
    }
  }

  /** Sends the signal if exactly this process still runs; says whether it was sent. */
  boolean signal(String name) {
    return isAlive() && Commands.run(List.of("kill", "-" + name, Long.toString(pid))).ok();
  }

  private static String currentBoot() {
    return read(Path.of("/proc/sys/kernel/random/boot_id")).orElse("unknown").strip();
  }

  /** A /proc file of a process that ends meanwhile reads as absent (ENOENT) or fails with ESRCH. */
  private static Optional<String> read(Path file) {
    try {
      return Optional.of(KernelFile.read(file));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return pid + " " + startTicks + " " + bootId;
  }
}
