package io.vgpu.control.metrics;

import java.util.List;

/**
 * The meters of the scheduler extender (control-plane.md 6.3): name, kind, label keys, meaning.
 * Label values come from enums or from a closed list, so their number is bounded.
 */
public enum ControlMeters {
  VERB(
      "vgpu.scheduler.verb",
      Kind.COUNTER,
      List.of("verb", "result"),
      "calls of a verb by their result"),
  VERB_DURATION(
      "vgpu.scheduler.verb.duration",
      Kind.TIMER,
      List.of("verb", "stage"),
      "time of a verb: total; of bind also plan and api"),
  NODE_REJECT(
      "vgpu.scheduler.node.reject",
      Kind.COUNTER,
      List.of("verb", "code"),
      "nodes refused to a pod, by the primary reason"),
  POD_POLICY(
      "vgpu.scheduler.pod.policy",
      Kind.COUNTER,
      List.of("node_policy", "device_policy", "topology_mode"),
      "pods bound, by what they asked for"),
  BIND_CONFLICT(
      "vgpu.scheduler.bind.conflict",
      Kind.COUNTER,
      List.of(),
      "binds that were planned again because the pod had changed"),
  BIND_UNKNOWN(
      "vgpu.scheduler.bind.unknown",
      Kind.COUNTER,
      List.of(),
      "Bindings whose outcome the API server did not tell"),
  POD_UNCOUNTED(
      "vgpu.scheduler.pod.uncounted",
      Kind.COUNTER,
      List.of(),
      "bound vGPU pods without an allocation sealed by us: nothing of them counts"),
  CARD_OVERCOMMITTED(
      "vgpu.scheduler.card.overcommitted",
      Kind.COUNTER,
      List.of(),
      "cards seen with more promised to bound pods than they have"),
  IN_FLIGHT(
      "vgpu.scheduler.bind.in.flight",
      Kind.GAUGE,
      List.of(),
      "commits that the watch has not confirmed yet");

  private final String meterName;
  private final Kind kind;
  private final List<String> labels;
  private final String description;

  /** What kind of meter it is. */
  public enum Kind {
    COUNTER("_total"),
    TIMER("_seconds"),
    GAUGE("");

    private final String suffix;

    Kind(String suffix) {
      this.suffix = suffix;
    }
  }

  ControlMeters(String meterName, Kind kind, List<String> labels, String description) {
    this.meterName = meterName;
    this.kind = kind;
    this.labels = labels;
    this.description = description;
  }

  /** The name in the meter registry. */
  public String meterName() {
    return meterName;
  }

  /** Its kind. */
  public Kind kind() {
    return kind;
  }

  /** Its label keys. */
  public List<String> labels() {
    return labels;
  }

  /** What it means. */
  public String description() {
    return description;
  }

  /** The name that Prometheus sees. */
  public String exposedName() {
    return meterName.replace('.', '_') + kind.suffix;
  }
}
