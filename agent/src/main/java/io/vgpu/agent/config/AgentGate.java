package io.vgpu.agent.config;

import io.vgpu.runtime.FeatureGate;

/**
 * The gates of the node's agent (node-agent.md 3.5, U46): names, defaults, and what this release
 * does with them.
 */
public enum AgentGate implements FeatureGate {
  GPU_CORE_RESOURCE_PLUGIN("GPUCoreResourcePlugin", false, true, "serve vgpu-cores as a resource"),
  GPU_MEMORY_RESOURCE_PLUGIN(
      "GPUMemoryResourcePlugin", false, true, "serve vgpu-memory as a resource"),
  ALLOCATION_FAILURE_RESCHEDULE(
      "AllocationFailureReschedule", false, true, "mark pods whose allocation failed on this node"),
  TOPOLOGY_AWARE_GPU_ALLOCATION(
      "TopologyAwareGPUAllocation", false, true, "read and publish the links between the cards"),
  SHARED_SM_UTILIZATION_WATCHER(
      "SharedSMUtilizationWatcher", false, false, "write the original's utilisation file as well"),
  VIRTUAL_MEMORY_TRACKING(
      "VirtualMemoryTracking", false, true, "show virtual memory of containers in the metrics"),
  DEVICE_PLUGIN_CLIENT_MODE(
      "DevicePluginClientMode", false, true, "containers register their processes over a socket"),
  HONOR_PRE_ALLOCATED_DEVICE_IDS(
      "HonorPreAllocatedDeviceIDs", true, true, "prefer the device ids of the claimed cards");

  private final String gateName;
  private final boolean onByDefault;
  private final boolean supported;
  private final String effect;

  AgentGate(String gateName, boolean onByDefault, boolean supported, String effect) {
    this.gateName = gateName;
    this.onByDefault = onByDefault;
    this.supported = supported;
    this.effect = effect;
  }

  @Override
  public String gateName() {
    return gateName;
  }

  @Override
  public Stage stage() {
    return Stage.ALPHA;
  }

  @Override
  public boolean onByDefault() {
    return onByDefault;
  }

  /** Whether switching it on has an effect in this release; if not, switching it on is refused. */
  public boolean supported() {
    return supported;
  }

  @Override
  public String effect() {
    return effect;
  }
}
