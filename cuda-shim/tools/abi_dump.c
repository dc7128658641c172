/*
 * Prints every constant, size and offset of vgpu/abi.h as `name value` lines, so that a mirror in another language can be
 * compared with the header itself. A check (checks/abi-complete.cmake) fails when the header has a name that is not here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "vgpu/abi.h"

#define HEX(name) printf("%s 0x%" PRIX64 "\n", #name, (uint64_t)(name))
#define NUM(name) printf("%s %" PRIu64 "\n", #name, (uint64_t)(name))
#define TEXT(name) printf("%s %s\n", #name, name)
#define SIZE(type) printf("sizeof.%s %zu\n", #type, sizeof(struct type))
#define FIELD(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(struct type, field))

static void constants(void) {
  TEXT(VGPU_CONFIG_ROOT);
  TEXT(VGPU_LIMITS_FILE);
  TEXT(VGPU_USAGE_FILE);
  TEXT(VGPU_USAGE_LOCK_FILE);
  TEXT(VGPU_LOAD_FILE);
  TEXT(VGPU_DRIVER_DIR);
  TEXT(VGPU_REGISTRY_DIR);
  TEXT(VGPU_LIBRARY_FILE);
  NUM(VGPU_ABI_MAJOR);
  NUM(VGPU_ABI_MINOR);
  HEX(VGPU_LIMITS_MAGIC);
  HEX(VGPU_USAGE_MAGIC);
  HEX(VGPU_LOAD_MAGIC);
  HEX(VGPU_REGISTER_MAGIC);
  NUM(VGPU_HEADER_BYTES);
  NUM(VGPU_LIMITS_BYTES);
  NUM(VGPU_USAGE_BYTES);
  NUM(VGPU_USAGE_LOCK_BYTES);
  NUM(VGPU_LOAD_BYTES);
  NUM(VGPU_MAX_DEVICES);
  NUM(VGPU_UUID_BYTES);
  NUM(VGPU_LIMITS_STRIDE);
  NUM(VGPU_USAGE_STRIDE);
  NUM(VGPU_LOAD_STRIDE);
  NUM(VGPU_SLOTS);
  NUM(VGPU_SLOT_BYTES);
  NUM(VGPU_SLOTS_OFFSET);
  NUM(VGPU_RING_SLOTS);
  NUM(VGPU_RING_ENTRIES);
  NUM(VGPU_RING_BYTES);
  NUM(VGPU_RINGS_OFFSET);
  NUM(VGPU_PAGE_BYTES);
  NUM(VGPU_LOCK_SLOT_BASE);
  NUM(VGPU_LOCK_DEVICE_BASE);
  NUM(VGPU_SEQLOCK_TRIES);
  HEX(VGPU_FNV_OFFSET);
  HEX(VGPU_FNV_PRIME);
  HEX(VGPU_LIMIT_ACTIVE);
  HEX(VGPU_LIMIT_MEMORY);
  HEX(VGPU_LIMIT_COMPUTE);
  HEX(VGPU_LIMIT_OVERSUBSCRIBE);
  HEX(VGPU_LIMIT_BALANCE);
  HEX(VGPU_LIMIT_PINNED_HOST);
  HEX(VGPU_LIMIT_STRICT);
  HEX(VGPU_LIMIT_MPS);
  HEX(VGPU_LIMIT_LATENCY);
  HEX(VGPU_LIMIT_KNOWN_FLAGS);
  NUM(VGPU_PERMILLE_FULL);
  NUM(VGPU_DEFAULT_RUNAHEAD_US);
  NUM(VGPU_DEFAULT_BURST_US);
  NUM(VGPU_DEFAULT_MAX_STALL_MS);
  NUM(VGPU_DEFAULT_CONTEXT_MIB);
  NUM(VGPU_EXPORTS);
  NUM(VGPU_CONTEXT_SAMPLES);
  NUM(VGPU_SLOT_FREE);
  NUM(VGPU_SLOT_CLAIMING);
  NUM(VGPU_SLOT_LIVE);
  NUM(VGPU_SLOT_REAPING);
  NUM(VGPU_SLOT_SUSPENDED);
  TEXT(VGPU_REGISTER_SOCKET);
  NUM(VGPU_REGISTER_TIMEOUT_MS);
  NUM(VGPU_REGISTER_OK);
  NUM(VGPU_REGISTER_REFUSED);
}

static void regions(void) {
  SIZE(vgpu_header);
  FIELD(vgpu_header, magic);
  FIELD(vgpu_header, major);
  FIELD(vgpu_header, minor);
  FIELD(vgpu_header, header_bytes);
  FIELD(vgpu_header, region_bytes);
  FIELD(vgpu_header, device_count);
  FIELD(vgpu_header, stride);
  FIELD(vgpu_header, writer_epoch);
  FIELD(vgpu_header, boot_id_hash);
  FIELD(vgpu_header, monotonic_offset_ns);
  FIELD(vgpu_header, slot_high_water);
  FIELD(vgpu_header, reserved);

  SIZE(vgpu_limits);
  FIELD(vgpu_limits, header);
  FIELD(vgpu_limits, devices);
  FIELD(vgpu_limits, reserved);
  SIZE(vgpu_limits_device);
  FIELD(vgpu_limits_device, seq);
  FIELD(vgpu_limits_device, flags);
  FIELD(vgpu_limits_device, uuid);
  FIELD(vgpu_limits_device, mem_limit);
  FIELD(vgpu_limits_device, mem_physical);
  FIELD(vgpu_limits_device, core_hard_permille);
  FIELD(vgpu_limits_device, core_soft_permille);
  FIELD(vgpu_limits_device, runahead_us);
  FIELD(vgpu_limits_device, burst_us);
  FIELD(vgpu_limits_device, host_pinned_limit);
  FIELD(vgpu_limits_device, nvml_index);
  FIELD(vgpu_limits_device, sm_count);
  FIELD(vgpu_limits_device, max_stall_ms);
  FIELD(vgpu_limits_device, context_mib);
  FIELD(vgpu_limits_device, reserved);

  SIZE(vgpu_load);
  FIELD(vgpu_load, header);
  FIELD(vgpu_load, devices);
  FIELD(vgpu_load, reserved);
  SIZE(vgpu_load_device);
  FIELD(vgpu_load_device, seq);
  FIELD(vgpu_load_device, device_util_permille);
  FIELD(vgpu_load_device, container_util_permille);
  FIELD(vgpu_load_device, others_active);
  FIELD(vgpu_load_device, sample_ns);
  FIELD(vgpu_load_device, context_bytes);
  FIELD(vgpu_load_device, container_nvml_bytes);
  FIELD(vgpu_load_device, refund_ns);
  FIELD(vgpu_load_device, turn_period_us);
  FIELD(vgpu_load_device, turn_offset_us);
  FIELD(vgpu_load_device, turn_length_us);
  FIELD(vgpu_load_device, context_sample);
}

static void usage(void) {
  SIZE(vgpu_usage);
  FIELD(vgpu_usage, header);
  FIELD(vgpu_usage, devices);
  FIELD(vgpu_usage, exports);
  FIELD(vgpu_usage, slots);
  FIELD(vgpu_usage, rings);
  SIZE(vgpu_usage_device);
  FIELD(vgpu_usage_device, peak);
  FIELD(vgpu_usage_device, oom_count);
  FIELD(vgpu_usage_device, throttle_ns);
  FIELD(vgpu_usage_device, launches);
  FIELD(vgpu_usage_device, internal_errors);
  FIELD(vgpu_usage_device, oom_bytes);
  FIELD(vgpu_usage_device, reserved_cold);
  FIELD(vgpu_usage_device, bucket_ns);
  FIELD(vgpu_usage_device, last_refill_ns);
  FIELD(vgpu_usage_device, raw_busy_ns);
  FIELD(vgpu_usage_device, waiters);
  FIELD(vgpu_usage_device, active_processes);
  FIELD(vgpu_usage_device, refund_taken_ns);
  FIELD(vgpu_usage_device, refund_credit_ns);
  FIELD(vgpu_usage_device, reserved_hot);
  SIZE(vgpu_usage_slot);
  FIELD(vgpu_usage_slot, state);
  FIELD(vgpu_usage_slot, pid);
  FIELD(vgpu_usage_slot, start_time);
  FIELD(vgpu_usage_slot, generation);
  FIELD(vgpu_usage_slot, reserved0);
  FIELD(vgpu_usage_slot, bytes);
  FIELD(vgpu_usage_slot, overhead_pages);
  FIELD(vgpu_usage_slot, inflight_us);
  FIELD(vgpu_usage_slot, open_since_ns);
  FIELD(vgpu_usage_slot, managed_pages);
  FIELD(vgpu_usage_slot, host_pinned_bytes);
  FIELD(vgpu_usage_slot, reserved1);
  SIZE(vgpu_interval);
  FIELD(vgpu_interval, start_ns);
  FIELD(vgpu_interval, length_us);
  FIELD(vgpu_interval, device);
  SIZE(vgpu_ring);
  FIELD(vgpu_ring, head);
  FIELD(vgpu_ring, reserved);
  FIELD(vgpu_ring, entries);
}

static void registration(void) {
  SIZE(vgpu_register_request);
  FIELD(vgpu_register_request, magic);
  FIELD(vgpu_register_request, major);
  FIELD(vgpu_register_request, minor);
  FIELD(vgpu_register_request, slot);
  FIELD(vgpu_register_request, pid);
  FIELD(vgpu_register_request, start_time);
  SIZE(vgpu_register_reply);
  FIELD(vgpu_register_reply, magic);
  FIELD(vgpu_register_reply, status);
}

int main(void) {
  constants();
  regions();
  usage();
  registration();
  return 0;
}
