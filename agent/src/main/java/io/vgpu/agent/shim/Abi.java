package io.vgpu.agent.shim;

/**
 * The Java mirror of {@code cuda-shim/include/vgpu/abi.h}: every constant, size and offset of the
 * memory shared with the library in containers, under the header's own names. {@code AbiLayoutTest}
 * compares each line with the header through {@code abi-dump}, in both directions. Numbers in
 * memory are little-endian and naturally aligned.
 */
public final class Abi {
  public static final String CONFIG_ROOT = "/etc/vgpu-manager";
  public static final String LIMITS_FILE = "limits";
  public static final String USAGE_FILE = "usage";
  public static final String USAGE_LOCK_FILE = "usage.lock";
  public static final String LOAD_FILE = "load";
  public static final String DRIVER_DIR = "driver";
  public static final String REGISTRY_DIR = "registry";
  public static final String LIBRARY_FILE = "libvgpu-control.so";
  public static final int ABI_MAJOR = 1;
  public static final int ABI_MINOR = 3;
  public static final int LIMITS_MAGIC = 0x4D494C56;
  public static final int USAGE_MAGIC = 0x47535556;
  public static final int LOAD_MAGIC = 0x444F4C56;
  public static final int REGISTER_MAGIC = 0x47455256;
  public static final int HEADER_BYTES = 128;
  public static final int LIMITS_BYTES = 4096;
  public static final int USAGE_BYTES = 524288;
  public static final int USAGE_LOCK_BYTES = 8192;
  public static final int LOAD_BYTES = 4096;
  public static final int MAX_DEVICES = 16;
  public static final int UUID_BYTES = 48;
  public static final int LIMITS_STRIDE = 128;
  public static final int USAGE_STRIDE = 128;
  public static final int LOAD_STRIDE = 64;
  public static final int SLOTS = 1024;
  public static final int SLOT_BYTES = 384;
  public static final int SLOTS_OFFSET = 4096;
  public static final int RING_SLOTS = 64;
  public static final int RING_ENTRIES = 123;
  public static final int RING_BYTES = 1984;
  public static final int RINGS_OFFSET = 397312;
  public static final int PAGE_BYTES = 4096;
  public static final int LOCK_SLOT_BASE = 0;
  public static final int LOCK_DEVICE_BASE = 4096;
  public static final int SEQLOCK_TRIES = 1000;
  public static final long FNV_OFFSET = 0xCBF29CE484222325L;
  public static final long FNV_PRIME = 0x00000100000001B3L;
  public static final int LIMIT_ACTIVE = 0x1;
  public static final int LIMIT_MEMORY = 0x2;
  public static final int LIMIT_COMPUTE = 0x4;
  public static final int LIMIT_OVERSUBSCRIBE = 0x8;
  public static final int LIMIT_BALANCE = 0x10;
  public static final int LIMIT_PINNED_HOST = 0x20;
  public static final int LIMIT_STRICT = 0x40;
  public static final int LIMIT_MPS = 0x80;
  public static final int LIMIT_LATENCY = 0x100;
  public static final int LIMIT_KNOWN_FLAGS = 0x1FF;
  public static final int PERMILLE_FULL = 1000;
  public static final int DEFAULT_RUNAHEAD_US = 1000;
  public static final int DEFAULT_BURST_US = 20000;
  public static final int DEFAULT_MAX_STALL_MS = 10000;
  public static final int DEFAULT_CONTEXT_MIB = 520;
  public static final int EXPORTS = 240;
  public static final int CONTEXT_SAMPLES = 3;
  public static final int SLOT_FREE = 0;
  public static final int SLOT_CLAIMING = 1;
  public static final int SLOT_LIVE = 2;
  public static final int SLOT_REAPING = 3;
  public static final int SLOT_SUSPENDED = 4;
  public static final String REGISTER_SOCKET = "shim.sock";
  public static final int REGISTER_TIMEOUT_MS = 100;
  public static final int REGISTER_OK = 0;
  public static final int REGISTER_REFUSED = 1;

  private Abi() {}

  /** Starts each file. */
  public static final class Header {
    public static final int SIZEOF = 128;
    public static final int MAGIC = 0;
    public static final int MAJOR = 4;
    public static final int MINOR = 6;
    public static final int HEADER_BYTES = 8;
    public static final int REGION_BYTES = 12;
    public static final int DEVICE_COUNT = 16;
    public static final int STRIDE = 20;
    public static final int WRITER_EPOCH = 24;
    public static final int BOOT_ID_HASH = 32;
    public static final int MONOTONIC_OFFSET_NS = 40;
    public static final int SLOT_HIGH_WATER = 48;
    public static final int RESERVED = 52;

    private Header() {}
  }

  /** The file {@code limits}. */
  public static final class Limits {
    public static final int SIZEOF = 4096;
    public static final int HEADER = 0;
    public static final int DEVICES = 128;
    public static final int RESERVED = 2176;

    private Limits() {}
  }

  /** One claimed card in {@code limits}. */
  public static final class LimitsDevice {
    public static final int SIZEOF = 128;
    public static final int SEQ = 0;
    public static final int FLAGS = 4;
    public static final int UUID = 8;
    public static final int MEM_LIMIT = 56;
    public static final int MEM_PHYSICAL = 64;
    public static final int CORE_HARD_PERMILLE = 72;
    public static final int CORE_SOFT_PERMILLE = 76;
    public static final int RUNAHEAD_US = 80;
    public static final int BURST_US = 84;
    public static final int HOST_PINNED_LIMIT = 88;
    public static final int NVML_INDEX = 96;
    public static final int SM_COUNT = 100;
    public static final int MAX_STALL_MS = 104;
    public static final int CONTEXT_MIB = 108;
    public static final int RESERVED = 112;

    private LimitsDevice() {}
  }

  /** The file {@code load}. */
  public static final class Load {
    public static final int SIZEOF = 4096;
    public static final int HEADER = 0;
    public static final int DEVICES = 128;
    public static final int RESERVED = 1152;

    private Load() {}
  }

  /** One card in {@code load}. */
  public static final class LoadDevice {
    public static final int SIZEOF = 64;
    public static final int SEQ = 0;
    public static final int DEVICE_UTIL_PERMILLE = 4;
    public static final int CONTAINER_UTIL_PERMILLE = 8;
    public static final int OTHERS_ACTIVE = 12;
    public static final int SAMPLE_NS = 16;
    public static final int CONTEXT_BYTES = 24;
    public static final int CONTAINER_NVML_BYTES = 32;
    public static final int REFUND_NS = 40;
    public static final int TURN_PERIOD_US = 48;
    public static final int TURN_OFFSET_US = 52;
    public static final int TURN_LENGTH_US = 56;
    public static final int CONTEXT_SAMPLE = 60;

    private LoadDevice() {}
  }

  /** The file {@code usage}. */
  public static final class Usage {
    public static final int SIZEOF = 524288;
    public static final int HEADER = 0;
    public static final int DEVICES = 128;
    public static final int EXPORTS = 2176;
    public static final int SLOTS = 4096;
    public static final int RINGS = 397312;

    private Usage() {}
  }

  /** Sums of one card in {@code usage}. */
  public static final class UsageDevice {
    public static final int SIZEOF = 128;
    public static final int PEAK = 0;
    public static final int OOM_COUNT = 8;
    public static final int THROTTLE_NS = 16;
    public static final int LAUNCHES = 24;
    public static final int INTERNAL_ERRORS = 32;
    public static final int OOM_BYTES = 40;
    public static final int RESERVED_COLD = 48;
    public static final int BUCKET_NS = 64;
    public static final int LAST_REFILL_NS = 72;
    public static final int RAW_BUSY_NS = 80;
    public static final int WAITERS = 88;
    public static final int ACTIVE_PROCESSES = 92;
    public static final int REFUND_TAKEN_NS = 96;
    public static final int REFUND_CREDIT_NS = 104;
    public static final int RESERVED_HOT = 112;

    private UsageDevice() {}
  }

  /** One process in {@code usage}. */
  public static final class UsageSlot {
    public static final int SIZEOF = 384;
    public static final int STATE = 0;
    public static final int PID = 4;
    public static final int START_TIME = 8;
    public static final int GENERATION = 16;
    public static final int RESERVED0 = 24;
    public static final int BYTES = 32;
    public static final int OVERHEAD_PAGES = 160;
    public static final int INFLIGHT_US = 224;
    public static final int OPEN_SINCE_NS = 288;
    public static final int MANAGED_PAGES = 296;
    public static final int HOST_PINNED_BYTES = 360;
    public static final int RESERVED1 = 368;

    private UsageSlot() {}
  }

  /** One finished slice of GPU time. */
  public static final class Interval {
    public static final int SIZEOF = 16;
    public static final int START_NS = 0;
    public static final int LENGTH_US = 8;
    public static final int DEVICE = 12;

    private Interval() {}
  }

  /** Slices of one process. */
  public static final class Ring {
    public static final int SIZEOF = 1984;
    public static final int HEAD = 0;
    public static final int RESERVED = 8;
    public static final int ENTRIES = 16;

    private Ring() {}
  }

  /** What a process sends once. */
  public static final class RegisterRequest {
    public static final int SIZEOF = 24;
    public static final int MAGIC = 0;
    public static final int MAJOR = 4;
    public static final int MINOR = 6;
    public static final int SLOT = 8;
    public static final int PID = 12;
    public static final int START_TIME = 16;

    private RegisterRequest() {}
  }

  /** The agent's answer. */
  public static final class RegisterReply {
    public static final int SIZEOF = 8;
    public static final int MAGIC = 0;
    public static final int STATUS = 4;

    private RegisterReply() {}
  }
}
