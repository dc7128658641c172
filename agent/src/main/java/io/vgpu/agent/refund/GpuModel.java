package io.vgpu.agent.refund;

import static io.vgpu.model.Checks.check;

import java.util.List;

/**
 * What refunds need to know of a model of GPU, measured by {@code vgpu-calibrate}: the mirror of
 * {@code gpu_model.def}.
 *
 * @param name a part of the name that the driver tells; "" stands for all others
 * @param longUs intervals up to this hold nobody else's turn
 * @param leaveUs switch away from a running kernel
 * @param backUs switch from one that has ended
 * @param sharedLossPermille of time that long kernels share, lost in switching
 * @param switchMaxPermille of the rest, the most that switches to short ones can take
 */
public record GpuModel(
    String name,
    int longUs,
    int leaveUs,
    int backUs,
    int sharedLossPermille,
    int switchMaxPermille) {
  private static final List<GpuModel> TABLE =
      List.of(
          new GpuModel("H200", 3000, 225, 125, 140, 260),
          new GpuModel("", 3000, 225, 125, 140, 260));

  public GpuModel {
    check(longUs > 0, "model \"%s\": longUs %d must be positive", name, longUs);
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

  long longNs() {
    return longUs * 1000L;
  }
}
