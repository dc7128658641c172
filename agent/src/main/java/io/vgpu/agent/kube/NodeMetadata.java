package io.vgpu.agent.kube;

import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.model.NodeInventory;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The labels and annotations that a node carries for us (node-agent.md 1.2, 1.6); null: the key
 * must not be there. Pure.
 */
record NodeMetadata(
    Map<String, @Nullable String> annotations, Map<String, @Nullable String> labels) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  NodeMetadata {
    annotations = Collections.unmodifiableMap(new LinkedHashMap<>(annotations));
    labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
  }

  /** What the node should carry; links only where the inventory has them. */
  static NodeMetadata wanted(Names names, DriverInfo driver, NodeInventory inventory) {
    Map<String, @Nullable String> annotations = new LinkedHashMap<>();
    annotations.put(names.nodeConfigInfo(), InventoryCodec.encodeConfig(inventory.config()));
    annotations.put(names.nodeDeviceRegister(), InventoryCodec.encodeRegister(inventory.devices()));
    annotations.put(
        names.nodeDeviceTopology(),
        inventory.topology().map(InventoryCodec::encodeTopology).orElse(null));
    Map<String, @Nullable String> labels = new LinkedHashMap<>();
    labels.put(Names.DRIVER_VERSION_LABEL, driver.driverVersion());
    labels.put(Names.CUDA_VERSION_LABEL, driver.cudaMajor() + "." + driver.cudaMinor());
    labels.put(Names.CUDA_MAJOR_LABEL, Integer.toString(driver.cudaMajor()));
    labels.put(Names.CUDA_MINOR_LABEL, Integer.toString(driver.cudaMinor()));
    return new NodeMetadata(annotations, labels);
  }

  /** Those of {@code present}'s keys that this one speaks of, absent ones as null. */
  NodeMetadata narrowed(Map<String, String> presentAnnotations, Map<String, String> presentLabels) {
    return new NodeMetadata(only(annotations, presentAnnotations), only(labels, presentLabels));
  }

  private static Map<String, @Nullable String> only(
      Map<String, @Nullable String> keys, Map<String, String> present) {
    Map<String, @Nullable String> narrowed = new LinkedHashMap<>();
    keys.keySet().forEach(k -> narrowed.put(k, present.get(k)));
    return narrowed;
  }

  /** The merge patch that makes {@code present} this; empty when it is already. */
  Optional<String> patchFrom(NodeMetadata present) {
    ObjectNode root = JSON.createObjectNode();
    ObjectNode metadata = root.putObject("metadata");
    boolean changed =
        put(metadata, "annotations", annotations, present.annotations())
            | put(metadata, "labels", labels, present.labels());
    return changed ? Optional.of(root.toString()) : Optional.empty();
  }

  private static boolean put(
      ObjectNode metadata,
      String field,
      Map<String, @Nullable String> wanted,
      Map<String, @Nullable String> present) {
    Map<String, @Nullable String> changes = new LinkedHashMap<>();
    wanted.forEach(
        (key, value) -> {
          if (!Objects.equals(value, present.get(key))) {
            changes.put(key, value);
          }
        });
    if (changes.isEmpty()) {
      return false;
    }
    ObjectNode object = metadata.putObject(field);
    changes.forEach(object::put);
    return true;
  }
}
