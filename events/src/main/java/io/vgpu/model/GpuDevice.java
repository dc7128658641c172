package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * One physical card as the node publishes it (node-agent.md 1.6).
 *
 * @param id NVML index
 * @param type NVML product name
 * @param core promised compute, percent of the card: trunc(coresScaling * 100)
 * @param memory promised memory, MiB: trunc(memoryScaling * physical)
 * @param number slots (deviceSplitCount)
 * @param numa NUMA node, -1 when unknown
 * @param mig MIG mode is on: the card serves no vGPU
 * @param capability CUDA compute capability, e.g. 8.6
 * @param healthy false for excluded and failed cards
 * @param withheld who keeps new pods off it, if anybody
 */
public record GpuDevice(
    int id,
    String type,
    GpuUuid uuid,
    int core,
    long memory,
    int number,
    int numa,
    boolean mig,
    String busId,
    float capability,
    boolean healthy,
    Withheld withheld) {
  /** Why a card takes no new pods though nothing is wrong with it. */
  public enum Withheld {
    NO,
    /** By the node's own configuration; published, beside {@code healthy: false}. */
    EXCLUDED,
    /** By an operator's word in the API; never published by the node. */
    CORDONED
  }

  public GpuDevice {
    check(
        id >= 0 && id <= DeviceClaim.MAX_INDEX,
        "device id %d: must be 0 to %d",
        id,
        DeviceClaim.MAX_INDEX);
    check(core >= 0 && core <= 100_000, "device %s: core %d must be 0 to 100000", uuid, core);
    check(
        memory >= 0 && memory <= MemoryMiB.MAX,
        "device %s: memory %d MiB must be 0 to %d",
        uuid,
        memory,
        MemoryMiB.MAX);
    check(
        number >= 0 && number <= 100_000, "device %s: number %d must be 0 to 100000", uuid, number);
    check(numa >= -1, "device %s: numa %d must be -1 or a node", uuid, numa);
    check(
        Float.isFinite(capability) && capability >= 0,
        "device %s: capability %s must be a finite number",
        uuid,
        capability);
  }

  /** A card that nobody withholds. */
  public GpuDevice(
      int id,
      String type,
      GpuUuid uuid,
      int core,
      long memory,
      int number,
      int numa,
      boolean mig,
      String busId,
      float capability,
      boolean healthy) {
    this(id, type, uuid, core, memory, number, numa, mig, busId, capability, healthy, Withheld.NO);
  }

  /** The same card, withheld by somebody else, or by nobody. */
  public GpuDevice withheld(Withheld by) {
    return new GpuDevice(
        id, type, uuid, core, memory, number, numa, mig, busId, capability, healthy, by);
  }

  /** Whether new pods are kept off a card that is fit for them. */
  public boolean cordoned() {
    return healthy && !mig && withheld == Withheld.CORDONED;
  }

  /** Whether slots of this card can be promised at all. */
  public boolean schedulable() {
    return healthy && !mig && withheld == Withheld.NO;
  }
}
