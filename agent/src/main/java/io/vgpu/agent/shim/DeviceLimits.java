package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import io.vgpu.model.GpuUuid;
import java.util.EnumSet;
import java.util.Set;

/**
 * One device entry of a container's {@code limits} (node-agent.md 2.10, cuda-shim.md 3.5).
 *
 * @param memLimit bytes
 * @param memPhysical bytes
 * @param coreHardPermille never above, in thousandths of the card
 * @param coreSoftPermille ceiling while the card idles
 */
public record DeviceLimits(
    GpuUuid uuid,
    int nvmlIndex,
    int smCount,
    Set<Flag> flags,
    long memLimit,
    long memPhysical,
    int coreHardPermille,
    int coreSoftPermille) {
  /**
   * Bits of {@code flags}, in the order of {@code abi.h}; bit 0, active, is always set by the
   * writer.
   */
  public enum Flag {
    MEMORY_LIMIT,
    COMPUTE_LIMIT,
    OVERSUBSCRIBE,
    BALANCE,
    /** The share is one of multiprocessors, which MPS keeps; the library looks whether it does. */
    MPS,
    /** Waits for no turn, so nobody on the card has turns while it works. */
    LATENCY
  }

  public DeviceLimits {
    flags = Set.copyOf(flags);
    check(nvmlIndex >= 0, "limits of %s: index %d must not be negative", uuid, nvmlIndex);
    check(smCount >= 0, "limits of %s: smCount %d must not be negative", uuid, smCount);
    check(
        memPhysical >= 0 && memPhysical <= memLimit,
        "limits of %s: memPhysical %d must be 0 to memLimit %d",
        uuid,
        memPhysical,
        memLimit);
    check(
        coreHardPermille >= 0
            && coreHardPermille <= coreSoftPermille
            && coreSoftPermille <= Abi.PERMILLE_FULL,
        "limits of %s: core permille hard %d, soft %d must be 0 <= hard <= soft <= 1000",
        uuid,
        coreHardPermille,
        coreSoftPermille);
  }

  /** The same with one more flag. */
  public DeviceLimits with(Flag flag) {
    Set<Flag> more = EnumSet.of(flag);
    more.addAll(flags);
    return new DeviceLimits(
        uuid, nvmlIndex, smCount, more, memLimit, memPhysical, coreHardPermille, coreSoftPermille);
  }
}
