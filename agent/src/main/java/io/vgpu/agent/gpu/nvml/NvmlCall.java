package io.vgpu.agent.gpu.nvml;

/**
 * The functions of {@code libnvidia-ml.so.1} that the agent calls, by the linker's names. A test
 * compares the list with {@code cuda-shim/src/nvml.def}. Optional ones came with later drivers:
 * without them a figure is missing, not the card.
 */
enum NvmlCall {
  INIT("nvmlInit_v2"),
  SHUTDOWN("nvmlShutdown"),
  ERROR_STRING("nvmlErrorString"),
  DRIVER_VERSION("nvmlSystemGetDriverVersion"),
  NVML_VERSION("nvmlSystemGetNVMLVersion"),
  CUDA_VERSION("nvmlSystemGetCudaDriverVersion_v2"),
  COUNT("nvmlDeviceGetCount_v2"),
  HANDLE_BY_INDEX("nvmlDeviceGetHandleByIndex_v2"),
  NAME("nvmlDeviceGetName"),
  UUID("nvmlDeviceGetUUID"),
  MINOR("nvmlDeviceGetMinorNumber"),
  MEMORY("nvmlDeviceGetMemoryInfo"),
  PCI("nvmlDeviceGetPciInfo_v3"),
  CAPABILITY("nvmlDeviceGetCudaComputeCapability"),
  UTILIZATION("nvmlDeviceGetUtilizationRates"),
  COMMON_ANCESTOR("nvmlDeviceGetTopologyCommonAncestor"),
  EVENT_SET_CREATE("nvmlEventSetCreate"),
  EVENT_SET_FREE("nvmlEventSetFree"),
  REGISTER_EVENTS("nvmlDeviceRegisterEvents"),
  SUPPORTED_EVENTS("nvmlDeviceGetSupportedEventTypes"),
  EVENT_SET_WAIT("nvmlEventSetWait_v2"),

  MEMORY_V2("nvmlDeviceGetMemoryInfo_v2", true),
  PROCESSES("nvmlDeviceGetComputeRunningProcesses_v3", true),
  CORES("nvmlDeviceGetNumGpuCores", true),
  NUMA_NODE_ID("nvmlDeviceGetNumaNodeId", true),
  MEMORY_AFFINITY("nvmlDeviceGetMemoryAffinity", true),
  MIG_MODE("nvmlDeviceGetMigMode", true),
  MAX_MIG_COUNT("nvmlDeviceGetMaxMigDeviceCount", true),
  MIG_HANDLE_BY_INDEX("nvmlDeviceGetMigDeviceHandleByIndex", true),
  GPU_INSTANCE("nvmlDeviceGetGpuInstanceId", true),
  COMPUTE_INSTANCE("nvmlDeviceGetComputeInstanceId", true),
  ATTRIBUTES("nvmlDeviceGetAttributes_v2", true),
  NVLINK_STATE("nvmlDeviceGetNvLinkState", true),
  NVLINK_REMOTE_PCI("nvmlDeviceGetNvLinkRemotePciInfo_v2", true),
  NVLINK_REMOTE_TYPE("nvmlDeviceGetNvLinkRemoteDeviceType", true);

  private final String symbol;
  private final boolean optional;

  NvmlCall(String symbol) {
    this(symbol, false);
  }

  NvmlCall(String symbol, boolean optional) {
    this.symbol = symbol;
    this.optional = optional;
  }

  String symbol() {
    return symbol;
  }

  boolean optional() {
    return optional;
  }
}
