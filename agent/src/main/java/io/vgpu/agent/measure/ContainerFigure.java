package io.vgpu.agent.measure;

import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.model.ContainerRef;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * One container on one of its cards at the last look.
 *
 * @param device which of its entries the card is, from 0
 * @param gpuNs time charged less refunds since the agent knows it; never falls
 * @param seen empty: its {@code usage} could not be read
 */
public record ContainerFigure(
    ContainerRef container, int device, DeviceLimits limits, long gpuNs, Optional<Seen> seen) {
  /**
   * What was read and could be believed.
   *
   * @param usedBytes given to its processes, with what their contexts take
   * @param virtualBytes managed memory, which may lie anywhere
   * @param processes that have a context there
   * @param listedBytes of its processes by the driver; empty: the driver does not tell (yet)
   * @param permille of the card in the last second; empty: nobody knows
   */
  public record Seen(
      long usedBytes,
      long virtualBytes,
      int processes,
      OptionalLong listedBytes,
      OptionalInt permille) {}

  /** Whether its time is charged, so that its utilisation can be known. */
  public boolean measured() {
    return isMeasured(limits);
  }

  /**
   * Whether time is charged at all: without a limit of its own, or where MPS keeps it, the library
   * only passes launches on.
   */
  static boolean isMeasured(DeviceLimits limits) {
    return limits.flags().contains(DeviceLimits.Flag.COMPUTE_LIMIT)
        && !limits.flags().contains(DeviceLimits.Flag.MPS);
  }
}
