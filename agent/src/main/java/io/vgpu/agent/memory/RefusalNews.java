package io.vgpu.agent.memory;

import io.vgpu.event.VgpuEvent;
import io.vgpu.event.VgpuEvent.ContainerOutOfMemory;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Tells of refused device memory: each look's news as facts, and to the pod one Kubernetes event a
 * minute and container at most. What comes within that minute is told at its end, with the count so
 * far. One context.
 */
public final class RefusalNews {
  static final String EVENT = "ContainerOutOfMemory";
  static final Duration PAUSE = Duration.ofMinutes(1);
  static final int MAX_CONTAINERS = 4096; // far above the pods that a kubelet admits

  private final String node;
  private final Consumer<VgpuEvent> facts;
  private final PodEvents events;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Map<ContainerRef, Teller> tellers = new LinkedHashMap<>();

  /** Writes a warning about a pod. */
  public interface PodEvents {
    void tell(PodRef pod, String reason, String message);
  }

  /** One container's minute, and what waits for its end. */
  private static final class Teller {
    final Map<GpuUuid, MemoryRefusal> waiting = new LinkedHashMap<>();
    final long untilNanos;

    Teller(long untilNanos) {
      this.untilNanos = untilNanos;
    }
  }

  /** {@code nanoTime}: a monotonic clock in nanoseconds. */
  public RefusalNews(
      String node,
      Consumer<VgpuEvent> facts,
      PodEvents events,
      Clock clock,
      LongSupplier nanoTime) {
    this.node = node;
    this.facts = facts;
    this.events = events;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** To be called regularly, also with nothing: then what waited long enough is told. */
  void tell(List<MemoryRefusal> news) {
    long now = nanoTime.getAsLong();
    endPauses(now);
    Map<ContainerRef, Map<GpuUuid, MemoryRefusal>> fresh = new LinkedHashMap<>();
    for (MemoryRefusal refusal : news) {
      facts.accept(
          new ContainerOutOfMemory(
              clock.instant(),
              node,
              refusal.container(),
              refusal.gpu(),
              refusal.count(),
              refusal.lastBytes()));
      Teller pausing = tellers.get(refusal.container());
      (pausing == null
              ? fresh.computeIfAbsent(refusal.container(), c -> new LinkedHashMap<>())
              : pausing.waiting)
          .put(refusal.gpu(), refusal);
    }
    fresh.forEach((container, refusals) -> write(container, refusals.values(), now));
  }

  private void endPauses(long now) {
    Map<ContainerRef, Teller> due = new LinkedHashMap<>();
    for (Iterator<Map.Entry<ContainerRef, Teller>> i = tellers.entrySet().iterator();
        i.hasNext(); ) {
      Map.Entry<ContainerRef, Teller> entry = i.next();
      if (now - entry.getValue().untilNanos >= 0) {
        i.remove();
        if (!entry.getValue().waiting.isEmpty()) {
          due.put(entry.getKey(), entry.getValue());
        }
      }
    }
    due.forEach((container, teller) -> write(container, teller.waiting.values(), now));
  }

  private void write(ContainerRef container, Collection<MemoryRefusal> refusals, long now) {
    if (tellers.size() >= MAX_CONTAINERS) {
      return; // the fact and the metric are out
    }
    tellers.put(container, new Teller(now + PAUSE.toNanos()));
    events.tell(
        container.pod(),
        EVENT,
        refusals.stream()
            .map(
                r ->
                    "%d allocations of device memory refused so far on %s, the last of %d bytes"
                        .formatted(r.count(), r.gpu(), r.lastBytes()))
            .collect(Collectors.joining("; ", "container " + container.container() + ": ", "")));
  }
}
