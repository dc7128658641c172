package io.vgpu.control.packing;

import io.vgpu.control.cluster.NameFilter;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;

/**
 * What one pod asks for, before it is known what share of a card that is.
 *
 * @param cores percent a card, 0 when it asks for memory only
 * @param memoryMiB a card, 0 when it asks for cores only
 * @param whole it says neither: whole cards
 */
record Kind(long cpu, int count, long cores, long memoryMiB, boolean whole, NameFilter models) {

  /** Cards of all its containers that run together; of each card the largest part. */
  static Kind of(PodRequest pod, int memoryFactor) {
    long together = 0;
    long inits = 0;
    long cores = 0;
    long memory = 0;
    boolean whole = false;
    for (ContainerDemand c : pod.demand().vgpuContainers()) {
      if (c.kind() == ContainerKind.INIT) {
        inits = Math.max(inits, c.number());
      } else {
        together += c.number();
      }
      cores = Math.max(cores, c.cores());
      memory = Math.max(memory, c.memory());
      whole |= c.cores() == 0 && c.memory() == 0;
    }
    return new Kind(
        pod.host().cpuMilli(),
        (int) Math.min(Integer.MAX_VALUE, Math.max(together, inits)),
        cores,
        Math.multiplyHigh(memory, memoryFactor) != 0 ? Long.MAX_VALUE : memory * memoryFactor,
        whole,
        pod.wishes().types());
  }

  /** On cards of this memory; both limits are hard, so the larger part counts. */
  Shape on(long cardMemoryMiB) {
    int share = whole ? Room.CARD : 0;
    if (count > 0 && !whole) {
      long byMemory =
          cardMemoryMiB <= 0
              ? 0
              : (long) Math.ceil(Math.min(1.0, (double) memoryMiB / cardMemoryMiB) * Room.CARD);
      share = Math.clamp(Math.max(cores * 10, byMemory), 1, Room.CARD);
    }
    return new Shape(
        (int) Math.min(Integer.MAX_VALUE / 4, cpu), count == 0 ? 0 : share, count, models);
  }
}
