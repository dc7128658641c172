package io.vgpu.agent.shim;

/**
 * What a container may know of one of its cards ({@code load} in abi.h).
 *
 * @param containerUtilPermille charged time less refunds
 * @param othersActive processes of others that were active in the last 100 ms
 * @param sampleNs CLOCK_MONOTONIC of the host
 * @param refundNs cumulative
 * @param turnLengthUs 0: no turns
 */
public record DeviceLoad(
    int deviceUtilPermille,
    int containerUtilPermille,
    int othersActive,
    long sampleNs,
    DriverMemory memory,
    long refundNs,
    int turnPeriodUs,
    int turnOffsetUs,
    int turnLengthUs) {
  public static final DeviceLoad NONE = new DeviceLoad(0, 0, 0, 0, DriverMemory.NONE, 0, 0, 0, 0);
}
