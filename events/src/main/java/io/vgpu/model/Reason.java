package io.vgpu.model;

/**
 * Why something was refused: code (stable, used in metrics and detailed texts) and phrase (used in
 * FailedNodes and events). Filter, bind, agent, events and metrics use the same ones
 * (control-plane.md 6.1, node-agent.md 2.7).
 */
public enum Reason {
  NODE_NOT_VGPU_ENABLED("NodeNotVGPUEnabled", "node not vGPU-enabled"),
  NODE_NO_VGPU_REGISTER("NodeNoVGPURegister", "node has no vGPU registered"),
  NODE_NO_VGPU_CONFIG("NodeNoVGPUConfig", "node has no vGPU configuration"),
  NODE_BAD_VGPU_REGISTER("NodeBadVGPURegister", "node vGPU registry invalid"),
  NODE_BAD_VGPU_CONFIG("NodeBadVGPUConfig", "node vGPU configuration invalid"),
  NODE_BAD_MEMORY_FACTOR("NodeBadMemoryFactor", "node memory factor invalid"),
  NODE_MEMORY_TYPE_MISMATCH("NodeMemoryTypeMismatch", "node memory type mismatch"),
  NODE_CACHE_MISS("NodeCacheMiss", "node missing from cache"),
  NODE_INFO_BUILD_FAILED("NodeInfoBuildFailed", "node info build failed"),
  DEVICE_UNHEALTHY("DeviceUnhealthy", "GPU unhealthy"),
  DEVICE_MIG_ENABLED("DeviceMIGEnabled", "GPU has MIG enabled"),
  DEVICE_CORDONED("DeviceCordoned", "GPU is cordoned"),
  INSUFFICIENT_VGPU_SLOT("InsufficientVGPUSlot", "Insufficient vGPU slots"),
  INSUFFICIENT_VGPU_MEMORY("InsufficientVGPUMemory", "Insufficient vGPU memory"),
  INSUFFICIENT_VGPU_CORE("InsufficientVGPUCore", "Insufficient vGPU cores"),
  DEVICE_TYPE_MISMATCH("DeviceTypeMismatch", "GPU type mismatch"),
  DEVICE_UUID_MISMATCH("DeviceUUIDMismatch", "GPU UUID mismatch"),
  INSUFFICIENT_GPU_CARDS("InsufficientGPUCards", "Insufficient GPU cards"),
  INSUFFICIENT_GPU_RESOURCES("InsufficientGPUResources", "Insufficient GPU resources"),
  LINK_TOPOLOGY_UNSATISFIED("LinkTopologyUnsatisfied", "Link topology unsatisfied"),
  NUMA_TOPOLOGY_UNSATISFIED("NUMATopologyUnsatisfied", "NUMA topology unsatisfied"),
  ALLOCATOR_INTERNAL_ERROR("AllocatorInternalError", "allocator internal error"),

  // the agent's refusals, while a pod is admitted
  POD_UNKNOWN("PodUnknown", "no pod is being admitted that asks for vGPUs"),
  POD_AMBIGUOUS("PodAmbiguous", "more than one pod may be the one being admitted"),
  POD_SOURCES_UNREACHABLE(
      "PodSourcesUnreachable", "the pod being admitted could not be read in time"),
  CLAIM_MISSING("ClaimMissing", "the pod carries no allocation"),
  CLAIM_MALFORMED("ClaimMalformed", "the pod's allocation cannot be read"),
  CLAIM_FORGED("ClaimForged", "the pod's allocation was not written by the scheduler"),
  CLAIM_OTHER_NODE("ClaimOtherNode", "the pod's allocation is for another node"),
  CLAIM_UNSATISFIABLE("ClaimUnsatisfiable", "the claimed cards cannot be given"),
  DEVICE_COUNT_MISMATCH("DeviceCountMismatch", "the number of devices differs from the allocation"),
  DEVICES_NOT_PROPOSED("DevicesNotProposed", "the kubelet chose devices that were not proposed"),
  DEVICE_UNKNOWN("DeviceUnknown", "the device is not one of this node's"),
  RUNS_WITHOUT_DEVICES(
      "RunsWithoutDevices",
      "the pod was admitted while no agent served it and runs without devices"),
  NEVER_STARTS(
      "NeverStarts",
      "the kubelet took down the pod's sandbox before all containers had started, and makes no other"),
  FILES_NOT_WRITTEN("FilesNotWritten", "the container's limits could not be written"),
  DEMAND_INVALID("DemandInvalid", "the request is not one that can be given");

  private final String code;
  private final String phrase;

  Reason(String code, String phrase) {
    this.code = code;
    this.phrase = phrase;
  }

  /** The stable name, e.g. {@code InsufficientVGPUCore}. */
  public String code() {
    return code;
  }

  /** The words for people, e.g. {@code Insufficient vGPU cores}. */
  public String phrase() {
    return phrase;
  }
}
