package io.vgpu.agent.gpu;

import static io.vgpu.model.Checks.check;

import java.util.OptionalLong;

/**
 * A process that computes on a card, as the driver lists it.
 *
 * @param pid in the agent's pid namespace
 * @param usedBytes of the card's memory; empty: the driver does not tell
 */
public record GpuProcess(int pid, OptionalLong usedBytes) {
  public GpuProcess {
    check(usedBytes.orElse(0) >= 0, "memory of process %d: must not be negative", pid);
  }
}
