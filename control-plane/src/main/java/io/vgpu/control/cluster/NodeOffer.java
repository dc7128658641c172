package io.vgpu.control.cluster;

import io.vgpu.claim.CordonCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.model.DeviceCordon;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuDevice.Withheld;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a node offers, read once per annotation text, or why it offers nothing. */
public sealed interface NodeOffer {
  /**
   * Cards sorted by index.
   *
   * @param rails rail keys by card UUID, where known
   */
  record Offered(
      NodeConfig config, List<GpuDevice> devices, NodeLinks links, Map<String, String> rails)
      implements NodeOffer {
    public Offered {
      devices = List.copyOf(devices);
      rails = Map.copyOf(rails);
    }

    /** What a card's rail is called in comparison with other nodes, by its position. */
    public String rail(int at) {
      GpuDevice device = devices.get(at);
      String key = rails.get(device.uuid().value());
      return key == null ? "idx:" + device.id() : "rail:" + key;
    }
  }

  /** The first failing gate of control-plane.md 3.2. */
  record NotOffered(Reason reason, String detail) implements NodeOffer {}

  /** Reads the node's annotations; never fails. */
  static NodeOffer of(NodeRecord node) {
    if (node.allocatable() <= 0) {
      return new NotOffered(Reason.NODE_NOT_VGPU_ENABLED, "no vgpu-number is allocatable");
    }
    String register = node.register();
    if (register == null || register.isBlank()) {
      return new NotOffered(Reason.NODE_NO_VGPU_REGISTER, "");
    }
    List<GpuDevice> devices;
    try {
      devices = cordoned(InventoryCodec.decodeRegister(register), node.cordon());
    } catch (FormatException e) {
      return new NotOffered(Reason.NODE_BAD_VGPU_REGISTER, said(e));
    }
    String text = node.config();
    if (text == null || text.isBlank()) {
      return new NotOffered(Reason.NODE_NO_VGPU_CONFIG, "");
    }
    NodeConfig config;
    try {
      config = InventoryCodec.decodeConfig(text);
    } catch (FormatException e) {
      // the codec refuses what no node may publish; a factor below zero has a reason of its own
      boolean factor = said(e).contains("memoryFactor") && said(e).contains("negative");
      return new NotOffered(
          factor ? Reason.NODE_BAD_MEMORY_FACTOR : Reason.NODE_BAD_VGPU_CONFIG, said(e));
    }
    if (config.deviceSplit() <= 0) {
      return new NotOffered(Reason.NODE_NOT_VGPU_ENABLED, "deviceSplit 0");
    }
    if (config.memoryFactor() <= 0) {
      return new NotOffered(Reason.NODE_BAD_MEMORY_FACTOR, "memoryFactor " + config.memoryFactor());
    }
    return new Offered(
        config, devices, NodeLinks.of(devices, node.topology()), rails(node.rails()));
  }

  /** What cannot be read of the text cordons nothing; {@link ClusterState} tells of it. */
  private static List<GpuDevice> cordoned(List<GpuDevice> devices, @Nullable String text) {
    Map<GpuUuid, DeviceCordon> cordons = CordonCodec.read(text).cordons();
    return cordons.isEmpty()
        ? devices
        : devices.stream()
            .map(d -> cordons.containsKey(d.uuid()) ? d.withheld(Withheld.CORDONED) : d)
            .toList();
  }

  /** A text that cannot be read counts as none: rails only ever improve a choice. */
  private static Map<String, String> rails(@Nullable String text) {
    if (text == null || text.isBlank()) {
      return Map.of();
    }
    try {
      return InventoryCodec.decodeRails(text);
    } catch (FormatException e) {
      return Map.of();
    }
  }

  private static String said(FormatException e) {
    String message = e.getMessage();
    return message == null ? "" : message;
  }
}
