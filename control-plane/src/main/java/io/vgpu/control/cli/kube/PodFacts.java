package io.vgpu.control.cli.kube;

import io.vgpu.model.PodDemand;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What the API says of one pod. */
public record PodFacts(
    String namespace,
    String name,
    String uid,
    String scheduler,
    String node,
    String phase,
    String reason,
    String message,
    Map<String, String> annotations,
    Map<String, String> labels,
    PodDemand demand,
    List<PodEvent> events) {
  /** A Kubernetes event about it. */
  public record PodEvent(Instant at, String source, String reason, String message) {}
}
