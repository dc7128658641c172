package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Inventories of cards that are all alike. */
public final class FakeCards {
  private FakeCards() {}

  public static GpuUuid uuid(int index) {
    return new GpuUuid("GPU-%08d-0000-0000-0000-000000000000".formatted(index));
  }

  /** One card; {@code mig}: in MIG mode. */
  public static PhysicalGpu card(int index, int smCount, boolean mig) {
    return new PhysicalGpu(
        index,
        index,
        uuid(index),
        "NVIDIA H200",
        143_771L << 20,
        "0000:0" + index + ":00.0",
        0,
        9.0f,
        smCount,
        mig,
        List.of());
  }

  public static GpuInventory of(int cards, int smCount) {
    return new NodeGpus(
        IntStream.range(0, cards).mapToObj(i -> card(i, smCount, false)).toList(),
        NodeConfig.DEFAULT,
        Optional.empty(),
        DeviceSelection.NONE);
  }
}
