package io.vgpu.control.metrics;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The meters of the control plane (control-plane.md 6.3): process, name, kind, label keys, meaning.
 * Label values come from enums or from a closed list, so their number is bounded.
 */
public enum ControlMeters {
  VERB(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.verb",
      Kind.COUNTER,
      List.of("verb", "result"),
      "calls of a verb by their result"),
  VERB_DURATION(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.verb.duration",
      Kind.TIMER,
      List.of("verb", "stage"),
      "time of a verb: total; of bind also plan and api"),
  NODE_REJECT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.node.reject",
      Kind.COUNTER,
      List.of("verb", "code"),
      "nodes refused to a pod, by the primary reason"),
  POD_POLICY(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.pod.policy",
      Kind.COUNTER,
      List.of("node_policy", "device_policy", "topology_mode"),
      "pods bound, by what they asked for"),
  TOPOLOGY_PLACEMENT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.topology.placement",
      Kind.COUNTER,
      List.of("mode", "result"),
      "pods bound with a topology mode, by how close their cards are"),
  CROSSPOD_ALIGNMENT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.crosspod.alignment",
      Kind.COUNTER,
      List.of("result"),
      "pods bound that want to be near their siblings, by where their cards were found: rail,"
          + " component, none"),
  TOPOLOGY_STRICT_REJECT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.topology.strict.reject",
      Kind.COUNTER,
      List.of("mode"),
      "nodes refused because a strict topology mode cannot be kept"),
  LINK_SEARCH(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.link.search",
      Kind.COUNTER,
      List.of("algo"),
      "searches for the best linked cards: exhaustive, or greedy where there are too many sets"),
  LINK_SEARCH_CANDIDATES(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.link.search.candidates",
      Kind.SUMMARY,
      List.of("algo"),
      "cards that such a search chose from"),
  PREEMPT_VICTIMS_ADDED(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.preempt.victims.added",
      Kind.SUMMARY,
      List.of(),
      "victims added to kube-scheduler's proposal, by node offered"),
  PREEMPT_PROTECTED(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.preempt.protected",
      Kind.COUNTER,
      List.of("reason"),
      "proposed victims that nobody may take the place of: terminating, critical, daemonset,"
          + " gang_sibling"),
  BIND_CONFLICT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.bind.conflict",
      Kind.COUNTER,
      List.of(),
      "binds that were planned again because the pod had changed"),
  DECISIONS_DROPPED(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.decisions.dropped",
      Kind.COUNTER,
      List.of(),
      "decisions forgotten before a controller had collected them"),
  BIND_RECHECK(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.bind.recheck",
      Kind.COUNTER,
      List.of(),
      "binds before which the node's pods were listed, because the watch had been silent"),
  BIND_UNKNOWN(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.bind.unknown",
      Kind.COUNTER,
      List.of(),
      "Bindings whose outcome the API server did not tell"),
  POD_UNCOUNTED(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.pod.uncounted",
      Kind.COUNTER,
      List.of(),
      "bound vGPU pods without an allocation sealed by us: nothing of them counts"),
  CARD_OVERCOMMITTED(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.card.overcommitted",
      Kind.COUNTER,
      List.of(),
      "cards seen with more promised to bound pods than they have"),
  CORDON_UNREADABLE(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.cordon.unreadable",
      Kind.COUNTER,
      List.of(),
      "texts of device-cordon seen of which something cannot be read, and cordons nothing"),
  IN_FLIGHT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.bind.in.flight",
      Kind.GAUGE,
      List.of(),
      "commits that the watch has not confirmed yet"),
  WORKLOAD_PODS(
      EnumSet.of(Part.EXTENDER),
      "vgpu.scheduler.workload.pods",
      Kind.GAUGE,
      List.of(),
      "pods that the workload model was learned from; below 50 the policies fit best"),
  LANE_QUEUE(
      EnumSet.of(Part.EXTENDER),
      "vgpu.lane.queue.depth",
      Kind.GAUGE,
      List.of("lane"),
      "calls waiting or running on a lane"),
  LANE_WAIT(
      EnumSet.of(Part.EXTENDER),
      "vgpu.lane.wait",
      Kind.TIMER,
      List.of("lane"),
      "time from call to start on a lane"),
  LANE_RUN(
      EnumSet.of(Part.EXTENDER),
      "vgpu.lane.run",
      Kind.TIMER,
      List.of("lane"),
      "time of one call on a lane"),
  WEBHOOK_REQUEST(
      EnumSet.of(Part.WEBHOOK),
      "vgpu.webhook.request",
      Kind.TIMER,
      List.of("path", "outcome"),
      "time from a review's head to its answer; outcome: allowed, mended, denied, malformed, failed"),
  LEADING(
      EnumSet.of(Part.CONTROLLER),
      "vgpu.controller.leading",
      Kind.GAUGE,
      List.of(),
      "1 in the process that acts, by the Lease; absent with --leader-elect=false"),
  EXPLANATIONS_KEPT(
      EnumSet.of(Part.CONTROLLER),
      "vgpu.controller.explanations",
      Kind.GAUGE,
      List.of(),
      "pods about which a decision of a scheduler is kept; only in the process that acts"),
  RESCHEDULE_PENDING(
      EnumSet.of(Part.CONTROLLER),
      "vgpu.reschedule.pending",
      Kind.GAUGE,
      List.of(),
      "pods that are being replaced or wait for it; only in the process that acts"),
  RESCHEDULE_PODS(
      EnumSet.of(Part.CONTROLLER),
      "vgpu.reschedule.pods",
      Kind.COUNTER,
      List.of("outcome"),
      "pods whose allocation failed or that had to leave a GPU, by what became of them: replaced, evicted, skipped,"
          + " name-taken, given-up"),
  EVENTS_DROPPED(
      EnumSet.of(Part.EXTENDER, Part.CONTROLLER),
      "vgpu.kube.events.dropped",
      Kind.COUNTER,
      List.of(),
      "Kubernetes events not written for want of budget");

  private final Set<Part> parts;
  private final String meterName;
  private final Kind kind;
  private final List<String> labels;
  private final String description;

  /** The process that serves it. */
  public enum Part {
    EXTENDER,
    WEBHOOK,
    CONTROLLER
  }

  /** What kind of meter it is. */
  public enum Kind {
    COUNTER("_total"),
    TIMER("_seconds"),
    GAUGE(""),
    SUMMARY("");

    private final String suffix;

    Kind(String suffix) {
      this.suffix = suffix;
    }
  }

  ControlMeters(
      EnumSet<Part> parts, String meterName, Kind kind, List<String> labels, String description) {
    this.parts = Collections.unmodifiableSet(parts);
    this.meterName = meterName;
    this.kind = kind;
    this.labels = labels;
    this.description = description;
  }

  /** The meters of one process. */
  public static List<ControlMeters> of(Part part) {
    return Arrays.stream(values()).filter(m -> m.parts.contains(part)).toList();
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
