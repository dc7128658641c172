package io.vgpu.agent.inject;

import io.vgpu.agent.inject.DeviceNodes.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Ways to the cards besides CUDA that a node may give its containers (node-agent.md 2.8): storage
 * straight to a card (GDS), network straight to a card (MOFED), memory of a card mapped by the CPU
 * (GDRCopy).
 */
public enum ExtraMode {
  GDRCOPY,
  GDS,
  MOFED;

  /** The variable that tells the container runtime. */
  public String variable() {
    return "NVIDIA_" + name();
  }

  /** The class of its CDI devices. */
  public String cdiClass() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The device nodes that the node has of it. */
  List<Node> nodes(DeviceNodes nodes) {
    return switch (this) {
      case GDS -> nodes.matching("/dev", "nvidia-fs*");
      case MOFED -> {
        List<Node> all = new ArrayList<>(nodes.matching("/dev/infiniband", "uverbs*"));
        all.addAll(nodes.existing(List.of("/dev/infiniband/rdma_cm")));
        yield all;
      }
      case GDRCOPY -> nodes.existing(List.of("/dev/gdrdrv"));
    };
  }

  /** Files of the driver's root that it needs besides. */
  List<String> files() {
    return this == GDS ? List.of("etc/cufile.json", "run/udev") : List.of();
  }
}
