package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.MetricsNode;
import io.vgpu.agent.kube.PodWriter;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One patch once the last container of a pod has its devices, off the answer's path (node-agent.md
 * 1.3). It is for people and metrics; nothing is decided by it. Returns at once, any thread.
 */
final class SuccessMarker {
  private final String node;
  private final Names names;
  private final PodWriter writer;

  SuccessMarker(String node, Names names, PodWriter writer) {
    this.node = node;
    this.names = names;
    this.writer = writer;
  }

  /** False when it has to be handed over again later. */
  boolean allocated(PodEntry entry) {
    Map<String, @Nullable String> annotations = new HashMap<>(MetricsNode.annotations(node, names));
    annotations.put(names.realAllocated(), ClaimCodec.encode(entry.claim()));
    Map<String, @Nullable String> labels = new HashMap<>();
    labels.put(names.assignedPhase(), "succeed");
    labels.put(names.metricsNode(), MetricsNode.label(node));
    return writer.submit(entry.pod(), new PodWriter.Change(annotations, labels));
  }
}
