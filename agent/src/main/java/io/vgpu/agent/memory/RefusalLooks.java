package io.vgpu.agent.memory;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.shim.UsageCopy;
import io.vgpu.model.ContainerRef;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads how often each container was refused device memory (cuda-shim.md 4.9) and finds what is
 * new. The figures are the container's own and may be anything: what falls without a reset of the
 * file, or is more than can be, is counted and not believed. After a restart of the agent
 * everything since the reset is new again. Lane {@code regions}.
 */
final class RefusalLooks {
  static final long ABSURD = 1L << 48; // a refusal each microsecond for nine years
  private static final int MAX_UNTOLD = 65_536; // every card of every container

  private final String node;
  private final MeterRegistry meters;
  private final Map<Owner, Seen> seen = new HashMap<>(); // of attached containers only
  private final Map<Key, MemoryRefusal> untold = new LinkedHashMap<>();

  private record Key(Owner owner, int device) {}

  /** What was believed of one container, by device. */
  private static final class Seen {
    final long[] count = new long[Abi.MAX_DEVICES];
    final long[] refusedToBelieve = new long[Abi.MAX_DEVICES];
    final List<Counter> counters = new ArrayList<>();
    long epoch;
  }

  RefusalLooks(String node, MeterRegistry meters) {
    this.node = node;
    this.meters = meters;
  }

  /** Looks at all; returns what nobody was told yet, also of containers that are gone. */
  List<MemoryRefusal> round(Collection<OpenContainer> containers) {
    containers.forEach(this::look);
    forget(containers.stream().map(OpenContainer::owner).collect(Collectors.toSet()));
    List<MemoryRefusal> news = List.copyOf(untold.values());
    untold.clear();
    return news;
  }

  private void forget(Set<Owner> present) {
    seen.entrySet()
        .removeIf(
            entry -> {
              boolean gone = !present.contains(entry.getKey());
              if (gone) {
                entry.getValue().counters.forEach(meters::remove);
              }
              return gone;
            });
  }

  /** Looks at one; what is new waits for the next round. */
  void look(OpenContainer container) {
    container.container().ifPresent(who -> look(container, who));
  }

  private void look(OpenContainer container, ContainerRef who) {
    UsageCopy usage;
    try {
      usage = container.usage();
      if (!usage.refreshFigures()) {
        ignored("unreadable");
        return;
      }
    } catch (IOException e) {
      ignored("unreadable"); // the refund round says why
      return;
    }
    List<DeviceLimits> devices = container.devices();
    Seen before = seen.computeIfAbsent(container.owner(), o -> new Seen());
    if (before.counters.size() != devices.size()) {
      before.counters.forEach(meters::remove);
      before.counters.clear();
      for (int i = 0; i < devices.size(); i++) {
        before.counters.add(counter(who, i, devices.get(i)));
      }
    }
    if (usage.writerEpoch() != before.epoch) { // reset: it counts from 0 again
      before.epoch = usage.writerEpoch();
      Arrays.fill(before.count, 0);
      Arrays.fill(before.refusedToBelieve, 0);
    }
    for (int i = 0; i < devices.size(); i++) {
      if (untold.size() < MAX_UNTOLD && isNews(before, i, usage.oomCount(i))) {
        long count = usage.oomCount(i);
        before.counters.get(i).increment(count - before.count[i]);
        before.count[i] = count;
        long bytes = usage.oomBytes(i);
        untold.put(
            new Key(container.owner(), i),
            new MemoryRefusal(
                who, devices.get(i).uuid(), count, bytes < 0 ? Long.MAX_VALUE : bytes));
      }
    }
  }

  private boolean isNews(Seen before, int device, long count) {
    boolean absurd = count < 0 || count > ABSURD;
    if (absurd || count < before.count[device]) {
      if (count != before.refusedToBelieve[device]) { // once for each such value
        before.refusedToBelieve[device] = count;
        ignored(absurd ? "absurd" : "back");
      }
      return false;
    }
    return count > before.count[device];
  }

  private void ignored(String cause) {
    AgentMeters.MEMORY_REFUSALS_IGNORED.counter(meters, cause).increment();
  }

  private Counter counter(ContainerRef who, int device, DeviceLimits limits) {
    return AgentMeters.MEMORY_REFUSALS.counter(
        meters,
        who.pod().namespace(),
        who.pod().name(),
        who.container(),
        Integer.toString(device),
        limits.uuid().value(),
        node);
  }
}
