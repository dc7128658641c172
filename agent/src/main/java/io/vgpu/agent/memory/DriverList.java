package io.vgpu.agent.memory;

import io.vgpu.agent.gpu.GpuProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * The driver's list of one card's processes, each with the container that it is of.
 *
 * @param ours processes of pods
 * @param elsewhere how many others there are: they belong to no pod, or had ended
 */
record DriverList(List<Entry> ours, int elsewhere) {
  /** One process; its memory, if the driver tells. */
  record Entry(Attribution.Whose owner, OptionalLong usedBytes) {}

  /** What one container has on the card: {@code bytes} is empty if not known of all processes. */
  record Sum(int processes, OptionalLong bytes) {}

  DriverList {
    ours = List.copyOf(ours);
  }

  /** Asks of each process whose it is. */
  static DriverList of(List<GpuProcess> listed, Attribution attribution) {
    List<Entry> ours = new ArrayList<>();
    for (GpuProcess p : listed) {
      attribution.of(p.pid()).ifPresent(owner -> ours.add(new Entry(owner, p.usedBytes())));
    }
    return new DriverList(ours, listed.size() - ours.size());
  }

  /** The sum over those of one container. */
  Sum of(Predicate<Attribution.Whose> container) {
    List<Entry> its = ours.stream().filter(e -> container.test(e.owner())).toList();
    return its.stream().anyMatch(e -> e.usedBytes().isEmpty())
        ? new Sum(its.size(), OptionalLong.empty())
        : new Sum(
            its.size(),
            OptionalLong.of(its.stream().mapToLong(e -> e.usedBytes().orElse(0)).sum()));
  }
}
