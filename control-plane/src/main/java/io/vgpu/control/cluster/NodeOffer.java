package io.vgpu.control.cluster;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Reason;
import java.util.List;

/** What a node offers, read once per annotation text, or why it offers nothing. */
public sealed interface NodeOffer {
  /** Cards sorted by index. */
  record Offered(NodeConfig config, List<GpuDevice> devices) implements NodeOffer {
    public Offered {
      devices = List.copyOf(devices);
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
      devices = InventoryCodec.decodeRegister(register);
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
    return new Offered(config, devices);
  }

  private static String said(FormatException e) {
    String message = e.getMessage();
    return message == null ? "" : message;
  }
}
