package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeInventory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Cards of 12288 MiB, all alike, whose health a test may change. */
final class FixedInventory implements GpuInventory {
  static final long MEMORY = 12288;
  private final int cards;
  private final NodeConfig config;
  private final Set<GpuUuid> sick = new HashSet<>();

  FixedInventory(int cards, NodeConfig config) {
    this.cards = cards;
    this.config = config;
  }

  static GpuUuid uuid(int index) {
    return new GpuUuid("GPU-%08d-0000-0000-0000-000000000000".formatted(index));
  }

  synchronized void sick(int index, boolean is) {
    if (is) {
      sick.add(uuid(index));
    } else {
      sick.remove(uuid(index));
    }
  }

  @Override
  public synchronized List<Card> cards() {
    List<Card> all = new ArrayList<>();
    for (int i = 0; i < cards; i++) {
      all.add(
          new Card(
              new PhysicalGpu(
                  i,
                  i,
                  uuid(i),
                  "NVIDIA A10",
                  MEMORY << 20,
                  "0000:%02x:00.0".formatted(i),
                  0,
                  8.6f,
                  72,
                  false,
                  List.of()),
              !sick.contains(uuid(i)),
              "",
              Set.of()));
    }
    return all;
  }

  @Override
  public synchronized NodeInventory published() {
    return new NodeInventory(
        cards().stream()
            .map(
                c ->
                    new GpuDevice(
                        c.gpu().index(),
                        c.gpu().name(),
                        c.gpu().uuid(),
                        100,
                        (long) (MEMORY * config.memoryScaling()),
                        config.deviceSplit(),
                        0,
                        false,
                        c.gpu().busId(),
                        8.6f,
                        c.healthy()))
            .toList(),
        config,
        Optional.empty());
  }
}
