package io.vgpu.e2e.scale;

import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.ProcessId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says of a running process. */
record ProcessFigures(long cpuMs, long rssMiB, long peakRssMiB) {
  /** Linux counts a process's time in hundredths of a second, on every architecture we run on. */
  private static final long TICK_MS = 10;

  private static final int UTIME = 11;
  private static final int STIME = 12;

  static ProcessFigures of(ManagedProcess process) {
    Path proc = Path.of("/proc", Long.toString(pid(process)));
    try {
      String stat = Files.readString(proc.resolve("stat"));
      // the name in parentheses may hold blanks; state is the first field after it
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long ticks = Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME]);
      String status = Files.readString(proc.resolve("status"));
      return new ProcessFigures(ticks * TICK_MS, mib(status, "VmRSS:"), mib(status, "VmHWM:"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + proc, e);
    }
  }

  private static long pid(ManagedProcess process) {
    return process
        .id()
        .map(ProcessId::pid)
        .orElseThrow(() -> new ClusterException(process.name() + " does not run"));
  }

  private static long mib(String status, String field) {
    return status
            .lines()
            .filter(l -> l.startsWith(field))
            .mapToLong(l -> Long.parseLong(l.replaceAll("[^0-9]", "")))
            .findFirst()
            .orElse(0)
        / 1024;
  }

  /** The machine's load of the last minute: what else ran beside a measurement. */
  static double loadAverage() {
    try {
      return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ", 2)[0]);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read /proc/loadavg", e);
    }
  }
}
