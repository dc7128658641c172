package io.vgpu.agent.metrics;

import java.util.List;

/**
 * Every family of series about cards, reservations and containers: the names of node-agent.md 7.2,
 * and beside them the same in base units (seconds, bytes, ratios from 0 to 1). Labels are names of
 * this node's cards and containers, so their number is bounded.
 */
public enum DeviceMeters implements Meter {
  // the cards (node-agent.md 7.2)
  CARD_MEMORY_TOTAL(
      "physical_gpu_device_total_memory_in_bytes",
      Kind.GAUGE,
      Labels.PHYSICAL,
      "memory of the card"),
  CARD_MEMORY_USED(
      "physical_gpu_device_memory_usage_in_bytes",
      Kind.GAUGE,
      Labels.PHYSICAL,
      "memory in use, by the last sample"),
  CARD_MEMORY_PERCENT(
      "physical_gpu_device_memory_utilization_percent",
      Kind.GAUGE,
      Labels.PHYSICAL,
      "used of total, truncated"),
  CARD_CORE_PERCENT(
      "physical_gpu_device_core_utilization_percent",
      Kind.GAUGE,
      Labels.PHYSICAL,
      "the driver's figure of the last sample; none with MIG"),
  CARD_HEALTH(
      "physical_gpu_device_health_status",
      Kind.GAUGE,
      Labels.PHYSICAL,
      "1 healthy, 0 excluded or failed"),
  NODE_CONFIGURATION(
      "node_gpu_device_configuration_info",
      Kind.INFO,
      List.of("node", "device_split", "cores_scaling", "memory_scaling", "memory_factor"),
      "how the node divides its cards"),
  NODE_DRIVER(
      "node_gpu_device_driver_version_info",
      Kind.INFO,
      List.of("node", "driver_version", "cuda_version", "nvml_version"),
      "versions; cuda_version is NVML's number, e.g. 12080"),
  NODE_MEMORY_TOTAL(
      "node_vgpu_device_total_memory_in_bytes",
      Kind.GAUGE,
      List.of("node"),
      "memory that the node promises, without MIG cards"),
  NODE_MEMORY_PHYSICAL(
      "node_vgpu_device_total_physical_memory_in_bytes",
      Kind.GAUGE,
      List.of("node"),
      "memory of the same cards"),
  VGPU_CORES_TOTAL(
      "vgpu_device_total_cores_number",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "compute that the card promises, percent"),
  VGPU_MEMORY_TOTAL(
      "vgpu_device_total_memory_in_bytes",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "memory that the card promises"),
  VGPU_MEMORY_PHYSICAL(
      "vgpu_device_total_physical_memory_in_bytes",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "memory of the card"),
  NODE_MEMORY_ASSIGNED(
      "node_vgpu_device_assigned_memory_in_bytes",
      Kind.GAUGE,
      Labels.NODE,
      "memory reserved by the pods bound to the node"),
  NODE_MEMORY_ASSIGNED_PHYSICAL(
      "node_vgpu_device_assigned_physical_memory_in_bytes",
      Kind.GAUGE,
      Labels.NODE,
      "the same, divided by the oversubscription"),
  VGPU_CORES_ASSIGNED(
      "vgpu_device_assigned_cores_number",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "compute reserved by the pods bound to the node, percent"),
  VGPU_SHARED_PEAK(
      "vgpu_device_peak_shared_containers_number",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "slots reserved over the lives of the pods bound to the node"),
  VGPU_SHARED_NOW(
      "vgpu_device_current_shared_containers_number",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "containers with a claim to the card that run now"),
  VGPU_MEMORY_ASSIGNED(
      "vgpu_device_assigned_memory_in_bytes",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "memory reserved by the pods bound to the node"),
  VGPU_MEMORY_ASSIGNED_PHYSICAL(
      "vgpu_device_assigned_physical_memory_in_bytes",
      Kind.GAUGE,
      Labels.VIRTUAL,
      "the same, divided by the oversubscription"),

  // containers (node-agent.md 7.2, 7.4): from their allocation to the end of their pod
  CONTAINER_MEMORY_LIMIT(
      "container_vgpu_device_memory_limit_in_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "memory that the container may have"),
  CONTAINER_MEMORY_LIMIT_PHYSICAL(
      "container_vgpu_device_physical_memory_limit_in_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "the part of it that may be on the card"),
  CONTAINER_MEMORY_USED(
      "container_vgpu_device_memory_usage_in_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "memory given to its processes with what their contexts take; with gate VirtualMemoryTracking managed memory too"),
  CONTAINER_MEMORY_PHYSICAL(
      "container_vgpu_device_physical_memory_usage_in_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "of its processes by the driver's list; none while the driver does not tell"),
  CONTAINER_MEMORY_PERCENT(
      "container_vgpu_device_memory_utilization_percent",
      Kind.GAUGE,
      Labels.CONTAINER,
      "used of limit, truncated, at most 100; none without a limit"),
  CONTAINER_CORE_PERCENT(
      "container_vgpu_device_core_utilization_percent",
      Kind.GAUGE,
      Labels.CONTAINER,
      "charged time less refunds of the last second; none where time is not charged (no limit of compute, or MPS) and a process has a context"),

  // MIG slices (node-agent.md 7.2): only where there are any
  MIG_MEMORY_TOTAL(
      "mig_device_total_memory_in_bytes", Kind.GAUGE, Labels.SLICE, "memory of the slice"),
  MIG_MEMORY_USED(
      "mig_device_memory_usage_in_bytes",
      Kind.GAUGE,
      Labels.SLICE,
      "memory in use, by the last sample"),
  MIG_MEMORY_PERCENT(
      "mig_device_memory_utilization_percent",
      Kind.GAUGE,
      Labels.SLICE,
      "used of total, truncated"),
  MIG_ALLOCATION(
      "container_mig_device_allocation_info",
      Kind.INFO,
      List.of(
          "node",
          "device_idx",
          "device_uuid",
          "parent_uuid",
          "pod_namespace",
          "pod_name",
          "container_name"),
      "the container that holds the slice, by the kubelet's own notes"),

  // the same and more in base units
  BASE_CARD_MEMORY("vgpu_card_memory_bytes", Kind.GAUGE, Labels.CARD, "memory of the card"),
  BASE_CARD_MEMORY_USED(
      "vgpu_card_memory_used_bytes", Kind.GAUGE, Labels.CARD, "memory in use, by the last sample"),
  BASE_CARD_GPU(
      "vgpu_card_gpu_ratio",
      Kind.GAUGE,
      Labels.CARD,
      "the driver's figure of the last sample, 0 to 1"),
  BASE_CARD_CONTAINERS(
      "vgpu_card_containers_gpu_ratio",
      Kind.GAUGE,
      Labels.CARD,
      "the sum over containers whose time is charged"),
  BASE_CARD_UNACCOUNTED(
      "vgpu_card_unaccounted_load",
      Kind.GAUGE,
      Labels.CARD,
      "1 while these two have been apart by more than 0.2 for 5 s: somebody computes there whom nobody limits"),
  BASE_CARD_UNLIMITED(
      "vgpu_card_unlimited_containers",
      Kind.GAUGE,
      Labels.CARD,
      "containers with processes there whose time is not charged"),
  BASE_CARD_HEALTHY(
      "vgpu_card_healthy", Kind.GAUGE, Labels.CARD, "1 healthy, 0 excluded or failed"),
  BASE_CARD_RESERVED_SLOTS(
      "vgpu_card_reserved_slots",
      Kind.GAUGE,
      Labels.CARD,
      "slots reserved by the pods bound to the node"),
  BASE_CARD_RESERVED_CORES(
      "vgpu_card_reserved_gpu_ratio",
      Kind.GAUGE,
      Labels.CARD,
      "compute reserved, 1 is the whole card"),
  BASE_CARD_RESERVED_MEMORY(
      "vgpu_card_reserved_memory_bytes", Kind.GAUGE, Labels.CARD, "memory reserved"),
  BASE_CONTAINER_MEMORY(
      "vgpu_container_memory_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "memory given to its processes with what their contexts take"),
  BASE_CONTAINER_VIRTUAL(
      "vgpu_container_virtual_memory_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "managed memory, which may lie anywhere; only with gate VirtualMemoryTracking"),
  BASE_CONTAINER_LISTED(
      "vgpu_container_driver_memory_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "of its processes by the driver's list"),
  BASE_CONTAINER_LIMIT(
      "vgpu_container_memory_limit_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "memory that the container may have"),
  BASE_CONTAINER_LIMIT_PHYSICAL(
      "vgpu_container_physical_memory_limit_bytes",
      Kind.GAUGE,
      Labels.CONTAINER,
      "the part of it that may be on the card"),
  BASE_CONTAINER_GPU(
      "vgpu_container_gpu_ratio",
      Kind.GAUGE,
      Labels.CONTAINER,
      "charged time less refunds of the last second, 0 to 1"),
  BASE_CONTAINER_GPU_LIMIT(
      "vgpu_container_gpu_limit_ratio",
      Kind.GAUGE,
      Labels.CONTAINER,
      "the share that it never exceeds"),
  BASE_CONTAINER_GPU_SECONDS(
      "vgpu_container_gpu_seconds_total",
      Kind.COUNTER,
      Labels.CONTAINER,
      "GPU time charged less refunds since the agent knows the container"),
  BASE_CONTAINER_PROCESSES(
      "vgpu_container_processes", Kind.GAUGE, Labels.CONTAINER, "processes with a context there"),
  BUILD_INFO(
      "exporter_build_info",
      Kind.INFO,
      List.of("node", "version", "branch", "commit", "platform", "date"),
      "what this build is; unknown parts are empty");

  private static final class Labels {
    static final List<String> PHYSICAL =
        List.of(
            "node",
            "device_idx",
            "device_uuid",
            "device_type",
            "pci_bus_id",
            "minor_num",
            "mig_enabled",
            "capability",
            "numa_node");
    static final List<String> VIRTUAL = List.of("node", "device_idx", "device_uuid", "device_type");
    static final List<String> NODE = List.of("node");
    static final List<String> CARD = List.of("node", "device_idx", "device_uuid");
    static final List<String> SLICE =
        List.of("node", "device_idx", "device_uuid", "parent_uuid", "ci_id", "gi_id", "profile");
    static final List<String> CONTAINER =
        List.of(
            "pod_namespace", "pod_name", "container_name", "vdevice_idx", "device_uuid", "node");
  }

  private final Family family;

  DeviceMeters(String exposedName, Kind kind, List<String> labels, String meaning) {
    this.family = new Family(exposedName, kind, labels, meaning);
  }

  @Override
  public Family family() {
    return family;
  }
}
