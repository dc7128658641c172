package io.vgpu.agent.gpu.nvml;

/**
 * Sizes and offsets of NVML's structures, as {@code cuda-shim/src/nvml_types.h} states them for
 * 64-bit machines.
 */
final class NvmlStructs {
  static final int MEMORY_BYTES = 24;
  static final int MEMORY_TOTAL = 0;
  static final int MEMORY_USED = 16;

  static final int MEMORY_V2_BYTES = 40;
  static final int MEMORY_V2_VERSION = MEMORY_V2_BYTES | 2 << 24;
  static final int MEMORY_V2_TOTAL = 8;
  static final int MEMORY_V2_USED = 32;

  static final int PCI_BYTES = 68;
  static final int PCI_BUS_ID = 36;

  static final int UTILIZATION_BYTES = 8;
  static final int UTILIZATION_GPU = 0;

  static final int PROCESS_BYTES = 24;
  static final int PROCESS_PID = 0;
  static final int PROCESS_USED = 8;

  static final int ATTRIBUTES_BYTES = 40;
  static final int ATTRIBUTES_MULTIPROCESSORS = 0;
  static final int ATTRIBUTES_MEMORY_MIB = 32;

  static final int EVENT_BYTES = 32;
  static final int EVENT_DEVICE = 0;
  static final int EVENT_TYPE = 8;
  static final int EVENT_DATA = 16;
  static final int EVENT_GPU_INSTANCE = 24;
  static final int EVENT_COMPUTE_INSTANCE = 28;

  static final long EVENT_SINGLE_BIT_ECC = 1;
  static final long EVENT_DOUBLE_BIT_ECC = 2;
  static final long EVENT_XID = 8;
  static final int NO_INSTANCE = 0xFFFFFFFF;

  static final int MAX_LINKS = 18;
  static final int REMOTE_SWITCH = 2;

  private NvmlStructs() {}
}
