package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What kube-scheduler sends with filter and prioritize (control-plane.md 1.1).
 *
 * @param nodeNames names, where it was sent with {@code nodeCacheCapable}; null when absent
 * @param nodes the {@code Nodes} object as sent; null when absent
 * @param items its elements
 * @param soft whether the pod has wishes of which node that other plug-ins score
 */
record ExtenderArgs(
    @Nullable PodRecord pod,
    @Nullable NameList nodeNames,
    @Nullable JsonNode nodes,
    List<JsonNode> items,
    boolean soft) {
  ExtenderArgs {
    items = List.copyOf(items);
  }
}
