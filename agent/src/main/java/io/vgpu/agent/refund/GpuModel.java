package io.vgpu.agent.refund;

import static io.vgpu.model.Checks.check;

import java.util.List;

/**
 * What refunds need to know of a model of GPU, measured by {@code vgpu-calibrate}: the mirror of
 * {@code gpu_model.def}.
 *
 * @param name a part of the name that the driver tells; "" stands for all others
 * @param turnUs the driver's time slice: what a process has before it is interrupted
 * @param leaveUs switch away from a running kernel
 * @param backUs switch from one that has ended
 * @param sharedLossPermille of time that two long kernels share, lost in switching
 * @param switchMaxPermille of the rest, the most that switches to short ones can take
 */
public record GpuModel(
    String name,
    int turnUs,
    int leaveUs,
    int backUs,
    int sharedLossPermille,
    int switchMaxPermille) {
  private static final List<GpuModel> TABLE =
      List.of(
          new GpuModel("H200", 2061, 205, 135, 110, 260),
          new GpuModel("", 2061, 205, 135, 110, 260));

  public GpuModel {
    check(turnUs > 0, "model \"%s\": turnUs %d must be positive", name, turnUs);
    check(
        sharedLossPermille >= 0 && sharedLossPermille < 1000,
        "model \"%s\": sharedLossPermille %d must be 0 to 999",
        name,
        sharedLossPermille);
  }

  /** Every row, the one for unknown models last. */
  public static List<GpuModel> table() {
    return TABLE;
  }

  /** The row for a card of this name. */
  public static GpuModel of(String cardName) {
    return TABLE.stream().filter(m -> cardName.contains(m.name())).findFirst().orElseThrow();
  }

  long turnNs() {
    return turnUs * 1000L;
  }

  /** One change of process; a round of n neighbours has n + 1. */
  long changeNs() {
    return (leaveUs + (long) backUs) * 500;
  }

  /** Up to here nobody else's whole time slice fits in. */
  long wholeNs() {
    return turnUs * 1060L;
  }

  /** Up to here an interval is brief: interruptions can be counted. */
  long briefNs() {
    return 2 * (2L * turnUs + leaveUs + backUs) * 1000;
  }

  /** Up to here an interval holds no interruption at all. */
  long leastNs() {
    return (leaveUs + (long) backUs) * 1000;
  }

  /**
   * What one interruption costs of what a process has earned by having the card: a little less than
   * a time slice, since they tremble.
   */
  long turnPriceNs() {
    return turnUs * 900L;
  }

  /** Of time that so many share. More than two lose a change for each time slice, and no more. */
  long lossPermille(int size) {
    long change = ((long) leaveUs + backUs) / 2;
    return size == 2 ? sharedLossPermille : change * 1000 / (change + turnUs);
  }
}
