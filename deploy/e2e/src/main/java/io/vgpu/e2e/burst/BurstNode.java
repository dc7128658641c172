package io.vgpu.e2e.burst;

import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import java.util.List;
import java.util.stream.IntStream;

/** The node of every burst: eight A100 of ten slots each, as the profile 8xA100 describes it. */
final class BurstNode {
  private static final int CARDS = 8;
  private static final int SLOTS = 10;
  private static final int MEMORY_MIB = 40_960;

  private BurstNode() {}

  /** What the agent must publish; NUMA node, bus and capability are left open. */
  static List<GpuDevice> cards() {
    return IntStream.range(0, CARDS)
        .mapToObj(
            i ->
                new GpuDevice(
                    i,
                    "NVIDIA A100-SXM4-40GB",
                    new GpuUuid("GPU-12345678-1234-1234-1234-12345678000" + i),
                    100,
                    MEMORY_MIB,
                    SLOTS,
                    -1,
                    false,
                    "",
                    0,
                    true))
        .toList();
  }

  static List<String> uuids() {
    return cards().stream().map(c -> c.uuid().value()).toList();
  }

  /** Whether the published cards are those that the witness reckons with. */
  static boolean isPublishedAs(List<GpuDevice> published) {
    return published.stream()
        .map(BurstNode::essence)
        .toList()
        .equals(cards().stream().map(BurstNode::essence).toList());
  }

  private static List<Object> essence(GpuDevice d) {
    return List.of(d.id(), d.type(), d.uuid(), d.core(), d.memory(), d.number(), d.schedulable());
  }
}
