package io.vgpu.control.reschedule.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.vgpu.claim.CordonCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.NodeCards;
import io.vgpu.model.DeviceCordon;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes from a node which of its cards may have to be left. Pure. */
final class NodeCardsReader {
  private final Names names;

  NodeCardsReader(Names names) {
    this.names = names;
  }

  NodeCards of(Node node) {
    Map<String, String> annotations = FailedPods.annotations(node.getMetadata());
    Map<GpuUuid, DeviceCordon> cordons =
        CordonCodec.read(annotations.get(names.deviceCordon())).cordons();
    Map<GpuUuid, String> drained = new HashMap<>();
    cordons.forEach(
        (card, cordon) -> {
          if (cordon.mode() == DeviceCordon.Mode.DRAIN) {
            drained.put(card, cordon.reason());
          }
        });
    Set<GpuUuid> sick = new HashSet<>();
    for (GpuDevice d : devices(annotations.get(names.nodeDeviceRegister()))) {
      if (!d.healthy()
          && d.withheld() != GpuDevice.Withheld.EXCLUDED
          && !cordons.containsKey(d.uuid())) {
        sick.add(d.uuid());
      }
    }
    return new NodeCards(node.getMetadata().getName(), drained, sick);
  }

  /** What cannot be read says of no card that it is sick. */
  private static List<GpuDevice> devices(@Nullable String register) {
    if (register == null || register.isBlank()) {
      return List.of();
    }
    try {
      return InventoryCodec.decodeRegister(register);
    } catch (FormatException e) {
      return List.of();
    }
  }
}
