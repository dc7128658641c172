package io.vgpu.control.scheduler;

import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * What calls of one verb took: by the clock, and of the processor on the threads that serve it (a
 * shared machine stretches the one and hardly the other), and how much garbage they made. One
 * thread.
 */
final class BenchSamples {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final long[] serving;
  private final long[] wall;
  private final long[] cpu;
  private long bytes;
  private int size;

  BenchSamples(int calls, long[] serving) {
    this.wall = new long[calls];
    this.cpu = new long[calls];
    this.serving = serving;
  }

  /** The threads of the extender: they exist once it has been asked something. */
  static long[] serving() {
    List<Long> ids = new ArrayList<>();
    for (long id : THREADS.getAllThreadIds()) {
      var info = THREADS.getThreadInfo(id);
      String name = info == null ? "" : info.getThreadName();
      if (name.contains("snapshot-readers")
          || name.contains("lane-")
          || name.contains("eventloop")) {
        ids.add(id);
      }
    }
    return ids.stream().mapToLong(Long::longValue).toArray();
  }

  /** Runs and measures one call. */
  <T> T measure(Supplier<T> call) {
    long before = sum(THREADS.getThreadCpuTime(serving));
    long heap = sum(THREADS.getThreadAllocatedBytes(serving));
    long start = System.nanoTime();
    T answer = call.get();
    wall[size] = System.nanoTime() - start;
    cpu[size++] = sum(THREADS.getThreadCpuTime(serving)) - before;
    bytes += sum(THREADS.getThreadAllocatedBytes(serving)) - heap;
    return answer;
  }

  private static long sum(long[] values) {
    long sum = 0;
    for (long v : values) {
      sum += Math.max(0, v);
    }
    return sum;
  }

  /** Of two verbs that were called in turn. */
  BenchSamples plus(BenchSamples other) {
    BenchSamples both = new BenchSamples(size, serving);
    both.size = size;
    both.bytes = bytes + other.bytes;
    Arrays.setAll(both.wall, i -> wall[i] + other.wall[i]);
    Arrays.setAll(both.cpu, i -> cpu[i] + other.cpu[i]);
    return both;
  }

  void report(ObjectNode row, String name) {
    percentiles(row, name + "_ms", wall);
    percentiles(row, name + "_cpu_ms", cpu);
    row.put(name + "_garbage_kib", bytes / Math.max(1, size) >> 10);
  }

  private void percentiles(ObjectNode row, String name, long[] values) {
    long[] sorted = Arrays.copyOf(values, size);
    Arrays.sort(sorted);
    row.put(name + "_p50", ms(sorted, 0.5)).put(name + "_p99", ms(sorted, 0.99));
  }

  private static double ms(long[] sorted, double quantile) {
    long nanos = sorted[Math.min(sorted.length - 1, (int) (sorted.length * quantile))];
    return Math.round(nanos / 1e4) / 100.0;
  }

  /** Milliseconds that collections have stopped everything for so far. */
  static long pausedMs() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(BenchSamples::pauses)
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  static long pauses() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(BenchSamples::pauses)
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  /** Concurrent collectors count their cycles apart from the pauses. */
  private static boolean pauses(GarbageCollectorMXBean gc) {
    return !gc.getName().contains("Cycles") && !gc.getName().contains("Concurrent");
  }
}
