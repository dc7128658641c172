package io.vgpu.agent.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.List;

/**
 * Every meter of what the agent does: the name that Prometheus sees, kind, labels, meaning. Label
 * values come from enums, card indices or names of this node, so their number is bounded; series of
 * a container are removed with it. {@code docs/metrics-agent.md} is made from this list and {@link
 * DeviceMeters}.
 */
public enum AgentMeters implements Meter {
  // what the agent does
  REGION_WRITES(
      "vgpu_region_writes_total",
      Kind.COUNTER,
      List.of("file"),
      "files of containers written, by file name"),
  CARD_SAMPLES(
      "vgpu_card_samples_total",
      Kind.COUNTER,
      List.of("device_idx", "outcome"),
      "attempts to read a card's own figures: ok, failed, or busy because the call before has not returned"),
  CARD_XIDS(
      "vgpu_card_xids_total",
      Kind.COUNTER,
      List.of("xid"),
      "critical errors told by the driver, ignored ones too"),
  CARD_ECC_ERRORS(
      "vgpu_card_ecc_errors_total",
      Kind.COUNTER,
      List.of("device_idx", "kind"),
      "memory errors told by the driver: corrected, or uncorrected; device_idx is empty where the driver does not say whose"),
  CARD_STANDING(
      "vgpu_card_standing",
      Kind.GAUGE,
      List.of("device_idx", "device_uuid", "standing"),
      "1 for how it stands with the card: healthy, suspect (still offered), unhealthy, probing (it answers again)"),
  CARD_SUSPECT(
      "vgpu_card_suspect",
      Kind.GAUGE,
      List.of("device_idx", "device_uuid"),
      "1 while a driver call on the card does not return"),
  CONFIG_CHANGES(
      "vgpu_node_config_changes_total",
      Kind.COUNTER,
      List.of("outcome"),
      "changes of the node configuration file under the running agent: applied, refused, restart (a part waits for one)"),
  NODE_PATCHES(
      "vgpu_node_patches_total",
      Kind.COUNTER,
      List.of("result"),
      "attempts to write the node's labels and annotations"),
  KUBELET_CALLS(
      "vgpu_kubelet_call_seconds",
      Kind.TIMER,
      List.of("call", "result"),
      "the kubelet's calls to the device plugin, by outcome"),
  IDENTITY_VIEWS(
      "vgpu_identity_views_total",
      Kind.COUNTER,
      List.of("source"),
      "looks at who is being admitted, by who told: kubelet, api (its port was silent), fetched (GETs besides)"),
  POD_RESOURCES_CALLS(
      "vgpu_pod_resources_calls_total",
      Kind.COUNTER,
      List.of("result"),
      "List calls to the kubelet"),
  REGISTRATIONS(
      "vgpu_kubelet_registrations_total",
      Kind.COUNTER,
      List.of("result"),
      "registrations with the kubelet"),
  KUBE_EVENTS_DROPPED(
      "vgpu_kube_events_dropped_total",
      Kind.COUNTER,
      List.of(),
      "Kubernetes events not written for want of budget"),
  ALLOCATIONS(
      "vgpu_allocations", Kind.GAUGE, List.of(), "pods that hold devices by the agent's own notes"),
  REFUNDS(
      "vgpu_refund_seconds_total",
      Kind.COUNTER,
      List.of("device_idx"),
      "GPU time given back to containers that were charged for their neighbours' turns"),
  REFUNDS_WITHHELD(
      "vgpu_refund_withheld_seconds_total",
      Kind.COUNTER,
      List.of("device_idx"),
      "GPU time not given back because it does not fit into the card's wall time"),
  REFUND_INTERVALS(
      "vgpu_refund_intervals_total",
      Kind.COUNTER,
      List.of("device_idx", "result"),
      "slices that containers posted: settled, or why dropped (head, device, length, future, old, order, unpaid, beyond, late)"),
  MPS_SERVES(
      "vgpu_mps_serves",
      Kind.GAUGE,
      List.of("device_idx", "device_uuid"),
      "1 while the MPS daemon of a card that is to be partitioned serves; 0: shares there are kept by time"),
  MPS_STARTS(
      "vgpu_mps_daemon_starts_total",
      Kind.COUNTER,
      List.of("device_idx", "result"),
      "attempts to start a card's MPS daemon: ok, failed"),
  MPS_BY_TIME(
      "vgpu_mps_shares_by_time_total",
      Kind.COUNTER,
      List.of("cause"),
      "containers on a partitioned card whose share is kept by time: daemon (it does not serve), cards (several), small (less than two multiprocessors)"),
  MEMORY_REFUSALS(
      "vgpu_container_memory_refusals_total",
      Kind.COUNTER,
      List.of("pod_namespace", "pod_name", "container_name", "vdevice_idx", "device_uuid", "node"),
      "allocations of device memory refused, by container and card; gone with the container"),
  MEMORY_REFUSALS_IGNORED(
      "vgpu_container_memory_refusals_ignored_total",
      Kind.COUNTER,
      List.of("cause"),
      "looks at a container's count of refusals that were not believed: back (it fell), absurd (beyond 2^48), unreadable"),
  CARD_PROCESS_LISTS(
      "vgpu_card_process_lists_total",
      Kind.COUNTER,
      List.of("device_idx", "outcome"),
      "askings for a card's processes while containers have contexts there: ok, failed, late (not used), or busy because the call before has not returned"),
  CARD_PROCESSES_LISTED(
      "vgpu_card_processes_listed_total",
      Kind.COUNTER,
      List.of("device_idx", "owner"),
      "processes in those lists: of a pod, or other, which are ignored"),
  CONTEXTS_MEASURED(
      "vgpu_context_measurements_total",
      Kind.COUNTER,
      List.of("device_idx"),
      "times that a container's memory by the driver was compared with what it was charged"),
  REGISTRATIONS_ASKED(
      "vgpu_process_registrations_total",
      Kind.COUNTER,
      List.of("result"),
      "processes of containers that came to register (gate DevicePluginClientMode): registered, or why not: full, silent, garbled, nobody, unknown-pod, impostor, failed"),
  REGISTERED_PROCESSES(
      "vgpu_registered_processes",
      Kind.GAUGE,
      List.of(),
      "processes of containers that registered and live"),
  LANE_DEPTH(
      "vgpu_lane_queue_depth", Kind.GAUGE, List.of("lane"), "calls waiting or running on a lane"),
  LANE_WAIT(
      "vgpu_lane_wait_seconds", Kind.TIMER, List.of("lane"), "time from call to start on a lane"),
  LANE_RUN("vgpu_lane_run_seconds", Kind.TIMER, List.of("lane"), "time of one call on a lane"),
  USAGE_DOUBTED(
      "vgpu_container_usage_doubted_total",
      Kind.COUNTER,
      List.of("cause"),
      "looks at what containers write that were not believed: short, unreadable, back (charged time fell), absurd (it leapt)"),
  SCRAPES(
      "promhttp_metric_handler_requests_total",
      Kind.COUNTER,
      List.of("code"),
      "scrapes answered, by HTTP status"),
  SCRAPE_ERRORS(
      "promhttp_metric_handler_errors_total",
      Kind.COUNTER,
      List.of("cause"),
      "scrapes that could not be answered: gathering or encoding"),
  SCRAPES_IN_FLIGHT(
      "promhttp_metric_handler_requests_in_flight",
      Kind.GAUGE,
      List.of(),
      "scrapes under way, also those whose asker is being looked up"),
  ACCESS_REVIEWS(
      "vgpu_scrape_reviews_total",
      Kind.COUNTER,
      List.of("result"),
      "askers looked up with the API server: allowed, denied, failed, or busy because too many are under way");

  private final Family family;

  AgentMeters(String exposedName, Kind kind, List<String> labels, String meaning) {
    this.family = new Family(exposedName, kind, labels, meaning);
  }

  @Override
  public Family family() {
    return family;
  }

  /** The counter with these label values, in the order of {@link #labels}. */
  public Counter counter(MeterRegistry registry, String... values) {
    if (kind() != Kind.COUNTER || values.length != labels().size()) {
      throw new IllegalArgumentException(
          exposedName()
              + " is a "
              + kind()
              + " with labels "
              + labels()
              + ", given "
              + values.length);
    }
    Tags tags = Tags.empty();
    for (int i = 0; i < values.length; i++) {
      tags = tags.and(labels().get(i), values[i]);
    }
    String name = exposedName().substring(0, exposedName().length() - "_total".length());
    return Counter.builder(name).description(meaning()).tags(tags).register(registry);
  }
}
