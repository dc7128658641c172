/*
 * The shared memory between the node agent and the library inside a container: version 1 of its layout.
 *
 * Three files, each mapped and each of one size for ever. `limits` and `load` are written by the agent alone and mounted
 * read-only; `usage` is written by the container and read by the agent as hostile input. This header is the only
 * statement of the layout: the Java mirrors are compared with it, name by name, through the program abi-dump.
 *
 * Numbers are little-endian and naturally aligned. A reader accepts any minor version and uses the fields it knows; it
 * refuses another major version. The magic is stored last, with release order, when everything else is in place: a region
 * without its magic does not exist yet.
 *
 * C11 and C++17; needs nothing but <stdint.h> and <stddef.h>.
 */
#ifndef VGPU_ABI_H
#define VGPU_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define VGPU_ASSERT(cond, text) static_assert(cond, text)
#else
#define VGPU_ASSERT(cond, text) _Static_assert(cond, text)
#endif
#define VGPU_AT(type, field, offset) VGPU_ASSERT(offsetof(struct type, field) == (offset), #type "." #field)
#define VGPU_SIZE(type, bytes) VGPU_ASSERT(sizeof(struct type) == (bytes), #type)

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layout is little-endian"
#endif

/* ---- names -------------------------------------------------------------------------------------------------------- */

#define VGPU_CONFIG_ROOT "/etc/vgpu-manager" /* in the container; one directory below it holds a `limits` */
#define VGPU_LIMITS_FILE "limits"
#define VGPU_USAGE_FILE "usage"
#define VGPU_USAGE_LOCK_FILE "usage.lock"
#define VGPU_LOAD_FILE "load"
#define VGPU_DRIVER_DIR "driver"     /* never a container's directory: a container of that name gets `driver_` */
#define VGPU_REGISTRY_DIR "registry" /* likewise */
#define VGPU_LIBRARY_FILE "libvgpu-control.so"

/* ---- versions, magics, sizes -------------------------------------------------------------------------------------- */

#define VGPU_ABI_MAJOR 1
#define VGPU_ABI_MINOR 3

/* Four ASCII letters in file order, so that a dump of the first bytes names the region. */
#define VGPU_LIMITS_MAGIC 0x4D494C56u   /* "VLIM" */
#define VGPU_USAGE_MAGIC 0x47535556u    /* "VUSG" */
#define VGPU_LOAD_MAGIC 0x444F4C56u     /* "VLOD" */
#define VGPU_REGISTER_MAGIC 0x47455256u /* "VREG" */

#define VGPU_HEADER_BYTES 128
#define VGPU_LIMITS_BYTES 4096
#define VGPU_USAGE_BYTES 524288
#define VGPU_USAGE_LOCK_BYTES 8192
#define VGPU_LOAD_BYTES 4096

#define VGPU_MAX_DEVICES 16
#define VGPU_UUID_BYTES 48 /* with at least one NUL at the end */
#define VGPU_LIMITS_STRIDE 128
#define VGPU_USAGE_STRIDE 128
#define VGPU_LOAD_STRIDE 64

#define VGPU_SLOTS 1024
#define VGPU_SLOT_BYTES 384
#define VGPU_SLOTS_OFFSET 4096
#define VGPU_RING_SLOTS 64 /* processes in slots from 64 on have no ring and earn no refunds */
#define VGPU_RING_ENTRIES 123
#define VGPU_RING_BYTES 1984
#define VGPU_RINGS_OFFSET 397312
#define VGPU_PAGE_BYTES 4096 /* unit of overhead_pages and managed_pages, whatever the machine's own page */

/* Bytes of `usage.lock` on which processes hold open-file-description locks; the agent takes none. */
#define VGPU_LOCK_SLOT_BASE 0      /* + slot: that slot's process lives */
#define VGPU_LOCK_DEVICE_BASE 4096 /* + device: slow path of admission */

/* A reader of a seqlock gives up after so many tries and keeps its last good copy. */
#define VGPU_SEQLOCK_TRIES 1000

/* FNV-1a, 64 bits, over the 36 characters of /proc/sys/kernel/random/boot_id: the value of header.boot_id_hash. */
#define VGPU_FNV_OFFSET 0xCBF29CE484222325u
#define VGPU_FNV_PRIME 0x00000100000001B3u

/* ---- the header of each file --------------------------------------------------------------------------------------- */

/* Frozen for every version. Written by the agent when it makes the file; only slot_high_water changes hands later. */
struct vgpu_header {
  uint32_t magic;              /* agent, last */
  uint16_t major;              /* agent */
  uint16_t minor;              /* agent */
  uint32_t header_bytes;       /* agent: VGPU_HEADER_BYTES */
  uint32_t region_bytes;       /* agent: size of the whole file */
  uint32_t device_count;       /* agent: entries in use, from 0, at most VGPU_MAX_DEVICES */
  uint32_t stride;             /* agent: bytes from one device entry to the next */
  uint64_t writer_epoch;       /* agent: CLOCK_REALTIME in ns when the present agent process took the file over; not 0 */
  uint64_t boot_id_hash;       /* agent: FNV-1a of the boot id; differs: the file is of an earlier boot */
  int64_t monotonic_offset_ns; /* agent: add to the host's CLOCK_MONOTONIC to have the container's */
  uint32_t slot_high_water;    /* `usage` only, container: slots ever used, from 0 (sequentially consistent); else 0 */
  uint8_t reserved[76];        /* 0 */
};
VGPU_SIZE(vgpu_header, 128);
VGPU_AT(vgpu_header, magic, 0);
VGPU_AT(vgpu_header, major, 4);
VGPU_AT(vgpu_header, minor, 6);
VGPU_AT(vgpu_header, header_bytes, 8);
VGPU_AT(vgpu_header, region_bytes, 12);
VGPU_AT(vgpu_header, device_count, 16);
VGPU_AT(vgpu_header, stride, 20);
VGPU_AT(vgpu_header, writer_epoch, 24);
VGPU_AT(vgpu_header, boot_id_hash, 32);
VGPU_AT(vgpu_header, monotonic_offset_ns, 40);
VGPU_AT(vgpu_header, slot_high_water, 48);
VGPU_AT(vgpu_header, reserved, 52);

/* ---- limits -------------------------------------------------------------------------------------------------------- */

#define VGPU_LIMIT_ACTIVE 0x01u        /* the entry counts */
#define VGPU_LIMIT_MEMORY 0x02u        /* mem_limit is enforced */
#define VGPU_LIMIT_COMPUTE 0x04u       /* core_*_permille are enforced */
#define VGPU_LIMIT_OVERSUBSCRIBE 0x08u /* mem_limit may exceed mem_physical: the rest is virtual memory */
#define VGPU_LIMIT_BALANCE 0x10u       /* policy balance: idle share may be borrowed up to core_soft_permille */
#define VGPU_LIMIT_PINNED_HOST 0x20u   /* host_pinned_limit is enforced */
#define VGPU_LIMIT_STRICT 0x40u        /* trouble fails closed instead of going unlimited */
#define VGPU_LIMIT_MPS 0x80u      /* since 1.1: the share is one of multiprocessors, kept by MPS; by time if it does not hold */
#define VGPU_LIMIT_LATENCY 0x100u /* since 1.3: waits for no turn, so nobody on the card has turns while it works */
#define VGPU_LIMIT_KNOWN_FLAGS 0x1FFu

#define VGPU_PERMILLE_FULL 1000u
#define VGPU_DEFAULT_RUNAHEAD_US 1000u   /* meant by runahead_us 0 */
#define VGPU_DEFAULT_BURST_US 20000u     /* meant by burst_us 0 */
#define VGPU_DEFAULT_MAX_STALL_MS 10000u /* meant by max_stall_ms 0 */
#define VGPU_DEFAULT_CONTEXT_MIB 520u    /* meant by context_mib 0; measured on an H200 */

/* One claimed card. The agent writes all of it; after the container exists only in place, under seq. */
struct vgpu_limits_device {
  uint32_t seq;                /* agent: odd while it writes */
  uint32_t flags;              /* agent: VGPU_LIMIT_* */
  char uuid[VGPU_UUID_BYTES];  /* agent: identity of the card; readers match by it, never by position */
  uint64_t mem_limit;          /* agent: bytes */
  uint64_t mem_physical;       /* agent: bytes of it that may be real device memory */
  uint32_t core_hard_permille; /* agent: the share that is promised, 0 to 1000 */
  uint32_t core_soft_permille; /* agent: ceiling while borrowing, hard to 1000 */
  uint32_t runahead_us;        /* agent: 0 for the default */
  uint32_t burst_us;           /* agent: 0 for the default */
  uint64_t host_pinned_limit;  /* agent: bytes */
  uint32_t nvml_index;         /* agent: the card's index on the host, for people */
  uint32_t sm_count;           /* agent: multiprocessors of the card, 0 if unknown */
  uint32_t max_stall_ms;       /* agent: longest wait of one launch, 0 for the default */
  uint32_t context_mib;        /* agent: what a context takes before it is measured, 0 for the default */
  uint8_t reserved[16];        /* 0 */
};
VGPU_SIZE(vgpu_limits_device, 128);
VGPU_AT(vgpu_limits_device, seq, 0);
VGPU_AT(vgpu_limits_device, flags, 4);
VGPU_AT(vgpu_limits_device, uuid, 8);
VGPU_AT(vgpu_limits_device, mem_limit, 56);
VGPU_AT(vgpu_limits_device, mem_physical, 64);
VGPU_AT(vgpu_limits_device, core_hard_permille, 72);
VGPU_AT(vgpu_limits_device, core_soft_permille, 76);
VGPU_AT(vgpu_limits_device, runahead_us, 80);
VGPU_AT(vgpu_limits_device, burst_us, 84);
VGPU_AT(vgpu_limits_device, host_pinned_limit, 88);
VGPU_AT(vgpu_limits_device, nvml_index, 96);
VGPU_AT(vgpu_limits_device, sm_count, 100);
VGPU_AT(vgpu_limits_device, max_stall_ms, 104);
VGPU_AT(vgpu_limits_device, context_mib, 108);
VGPU_AT(vgpu_limits_device, reserved, 112);

struct vgpu_limits {
  struct vgpu_header header;
  struct vgpu_limits_device devices[VGPU_MAX_DEVICES];
  uint8_t reserved[1920]; /* 0 */
};
VGPU_SIZE(vgpu_limits, VGPU_LIMITS_BYTES);
VGPU_AT(vgpu_limits, devices, 128);
VGPU_AT(vgpu_limits, reserved, 2176);

/* ---- usage --------------------------------------------------------------------------------------------------------- */

/* Sums of one card over the container. The container writes all of it, with atomics; the agent only makes it zero. */
struct vgpu_usage_device {
  int64_t peak;              /* container: highest sum of bytes */
  uint64_t oom_count;        /* container: allocations refused */
  uint64_t throttle_ns;      /* container: time launches waited */
  uint64_t launches;         /* container */
  uint64_t internal_errors;  /* container: times the library had to let something pass */
  uint64_t oom_bytes;        /* container: size of the allocation refused last, stored before oom_count grows */
  uint8_t reserved_cold[16]; /* 0 */
  int64_t bucket_ns;         /* container: GPU time that may still be spent; negative is debt */
  uint64_t last_refill_ns;   /* container: CLOCK_MONOTONIC */
  uint64_t raw_busy_ns;      /* container: GPU time charged before refunds, cumulative */
  uint32_t waiters;          /* container: futex word of processes that wait for the bucket */
  uint32_t active_processes; /* container */
  uint64_t refund_taken_ns;  /* container: how much of load.refund_ns is in the bucket already */
  int64_t refund_credit_ns;  /* container: refunds not spent yet; they raise the bucket's cap */
  uint8_t reserved_hot[16];  /* 0 */
};
VGPU_SIZE(vgpu_usage_device, 128);
VGPU_AT(vgpu_usage_device, peak, 0);
VGPU_AT(vgpu_usage_device, oom_count, 8);
VGPU_AT(vgpu_usage_device, throttle_ns, 16);
VGPU_AT(vgpu_usage_device, launches, 24);
VGPU_AT(vgpu_usage_device, internal_errors, 32);
VGPU_AT(vgpu_usage_device, oom_bytes, 40);
VGPU_AT(vgpu_usage_device, reserved_cold, 48);
VGPU_AT(vgpu_usage_device, bucket_ns, 64);
VGPU_AT(vgpu_usage_device, last_refill_ns, 72);
VGPU_AT(vgpu_usage_device, raw_busy_ns, 80);
VGPU_AT(vgpu_usage_device, waiters, 88);
VGPU_AT(vgpu_usage_device, active_processes, 92);
VGPU_AT(vgpu_usage_device, refund_taken_ns, 96);
VGPU_AT(vgpu_usage_device, refund_credit_ns, 104);
VGPU_AT(vgpu_usage_device, reserved_hot, 112);

#define VGPU_SLOT_FREE 0u
#define VGPU_SLOT_CLAIMING 1u
#define VGPU_SLOT_LIVE 2u
#define VGPU_SLOT_REAPING 3u
#define VGPU_SLOT_SUSPENDED 4u

/* One process. Written by its process, after its death by the one that reaps it. Host pids never come here. */
struct vgpu_usage_slot {
  uint32_t state;                            /* container: VGPU_SLOT_* */
  int32_t pid;                               /* container: in its own pid namespace */
  uint64_t start_time;                       /* container: field 22 of /proc/<pid>/stat */
  uint64_t generation;                       /* container: grows with each new owner of the slot */
  uint64_t reserved0;                        /* 0 */
  int64_t bytes[VGPU_MAX_DEVICES];           /* container: device memory given to hooked calls */
  uint32_t overhead_pages[VGPU_MAX_DEVICES]; /* container: context, code, workspaces; VGPU_PAGE_BYTES each */
  uint32_t inflight_us[VGPU_MAX_DEVICES];    /* container: predicted GPU time of unfinished slices */
  uint64_t open_since_ns;                    /* container: start of the oldest unfinished slice, 0 for none */
  uint32_t managed_pages[VGPU_MAX_DEVICES];  /* container: virtual memory in use; VGPU_PAGE_BYTES each */
  uint64_t host_pinned_bytes;                /* container */
  uint8_t reserved1[16];                     /* 0 */
};
VGPU_SIZE(vgpu_usage_slot, VGPU_SLOT_BYTES);
VGPU_AT(vgpu_usage_slot, state, 0);
VGPU_AT(vgpu_usage_slot, pid, 4);
VGPU_AT(vgpu_usage_slot, start_time, 8);
VGPU_AT(vgpu_usage_slot, generation, 16);
VGPU_AT(vgpu_usage_slot, reserved0, 24);
VGPU_AT(vgpu_usage_slot, bytes, 32);
VGPU_AT(vgpu_usage_slot, overhead_pages, 160);
VGPU_AT(vgpu_usage_slot, inflight_us, 224);
VGPU_AT(vgpu_usage_slot, open_since_ns, 288);
VGPU_AT(vgpu_usage_slot, managed_pages, 296);
VGPU_AT(vgpu_usage_slot, host_pinned_bytes, 360);
VGPU_AT(vgpu_usage_slot, reserved1, 368);

/* One finished slice of GPU time. */
struct vgpu_interval {
  int64_t start_ns;   /* container: CLOCK_MONOTONIC of the container */
  uint32_t length_us; /* container */
  uint32_t device;    /* container: entry in `limits` */
};
VGPU_SIZE(vgpu_interval, 16);
VGPU_AT(vgpu_interval, start_ns, 0);
VGPU_AT(vgpu_interval, length_us, 8);
VGPU_AT(vgpu_interval, device, 12);

/* Slices of the process in the slot of the same number; one writer. Entry of the n-th slice: n mod VGPU_RING_ENTRIES. */
struct vgpu_ring {
  uint64_t head;                                   /* container: slices ever posted, stored with release order */
  uint64_t reserved;                               /* 0 */
  struct vgpu_interval entries[VGPU_RING_ENTRIES]; /* container */
};
VGPU_SIZE(vgpu_ring, VGPU_RING_BYTES);
VGPU_AT(vgpu_ring, head, 0);
VGPU_AT(vgpu_ring, reserved, 8);
VGPU_AT(vgpu_ring, entries, 16);

/* Memory that processes of this container have exported, so that an importer among them is not charged again. */
#define VGPU_EXPORTS 240

struct vgpu_usage {
  struct vgpu_header header;
  struct vgpu_usage_device devices[VGPU_MAX_DEVICES];
  uint64_t exports[VGPU_EXPORTS]; /* container: hashes of what was exported, 0 for none; later ones overwrite older ones */
  struct vgpu_usage_slot slots[VGPU_SLOTS];
  struct vgpu_ring rings[VGPU_RING_SLOTS];
};
VGPU_SIZE(vgpu_usage, VGPU_USAGE_BYTES);
VGPU_AT(vgpu_usage, devices, 128);
VGPU_AT(vgpu_usage, exports, 2176);
VGPU_AT(vgpu_usage, slots, VGPU_SLOTS_OFFSET);
VGPU_AT(vgpu_usage, rings, VGPU_RINGS_OFFSET);
VGPU_ASSERT(VGPU_LOCK_SLOT_BASE + VGPU_SLOTS <= VGPU_LOCK_DEVICE_BASE, "lock bytes of slots and devices are apart");
VGPU_ASSERT(VGPU_LOCK_DEVICE_BASE + VGPU_MAX_DEVICES <= VGPU_USAGE_LOCK_BYTES, "lock bytes are inside the file");

/* ---- load ---------------------------------------------------------------------------------------------------------- */

/* context_bytes is the middle one of so many figures, each taken between two looks at slots that had not changed. */
#define VGPU_CONTEXT_SAMPLES 3

/* What the container may know of one of its cards. The agent writes all of it under seq and wakes waiters on seq. */
struct vgpu_load_device {
  uint32_t seq;                     /* agent: odd while it writes; futex word */
  uint32_t device_util_permille;    /* agent: the whole card */
  uint32_t container_util_permille; /* agent: charged time of this container, less refunds */
  uint32_t others_active;           /* agent: processes of others that were active in the last 100 ms */
  uint64_t sample_ns;               /* agent: CLOCK_MONOTONIC of the host */
  uint64_t context_bytes;           /* agent: what a process takes beside what it was charged, rounded up to pages */
  uint64_t container_nvml_bytes;    /* agent: device memory of this container's processes as the driver lists it */
  uint64_t refund_ns;               /* agent: cumulative */
  uint32_t turn_period_us;          /* agent */
  uint32_t turn_offset_us;          /* agent */
  uint32_t turn_length_us;          /* agent: 0 for no turns */
  uint32_t context_sample;          /* agent: grows with each measurement of context_bytes; 0 while there was none */
};
VGPU_SIZE(vgpu_load_device, VGPU_LOAD_STRIDE);
VGPU_AT(vgpu_load_device, seq, 0);
VGPU_AT(vgpu_load_device, device_util_permille, 4);
VGPU_AT(vgpu_load_device, container_util_permille, 8);
VGPU_AT(vgpu_load_device, others_active, 12);
VGPU_AT(vgpu_load_device, sample_ns, 16);
VGPU_AT(vgpu_load_device, context_bytes, 24);
VGPU_AT(vgpu_load_device, container_nvml_bytes, 32);
VGPU_AT(vgpu_load_device, refund_ns, 40);
VGPU_AT(vgpu_load_device, turn_period_us, 48);
VGPU_AT(vgpu_load_device, turn_offset_us, 52);
VGPU_AT(vgpu_load_device, turn_length_us, 56);
VGPU_AT(vgpu_load_device, context_sample, 60);

struct vgpu_load {
  struct vgpu_header header;
  struct vgpu_load_device devices[VGPU_MAX_DEVICES];
  uint8_t reserved[2944]; /* 0 */
};
VGPU_SIZE(vgpu_load, VGPU_LOAD_BYTES);
VGPU_AT(vgpu_load, devices, 128);
VGPU_AT(vgpu_load, reserved, 1152);

/* ---- registration -------------------------------------------------------------------------------------------------- */

/* A stream socket in VGPU_REGISTRY_DIR; its name differs from the one that the original's client looks for. */
#define VGPU_REGISTER_SOCKET "shim.sock"
#define VGPU_REGISTER_TIMEOUT_MS 100 /* then the process goes on unregistered */

/* Sent once by a process, whole. */
struct vgpu_register_request {
  uint32_t magic;      /* container: VGPU_REGISTER_MAGIC */
  uint16_t major;      /* container */
  uint16_t minor;      /* container */
  uint32_t slot;       /* container: its slot in `usage` */
  int32_t pid;         /* container: in its own pid namespace; the host pid comes from the socket's credentials */
  uint64_t start_time; /* container: field 22 of /proc/<pid>/stat */
};
VGPU_SIZE(vgpu_register_request, 24);
VGPU_AT(vgpu_register_request, magic, 0);
VGPU_AT(vgpu_register_request, major, 4);
VGPU_AT(vgpu_register_request, minor, 6);
VGPU_AT(vgpu_register_request, slot, 8);
VGPU_AT(vgpu_register_request, pid, 12);
VGPU_AT(vgpu_register_request, start_time, 16);

#define VGPU_REGISTER_OK 0u
#define VGPU_REGISTER_REFUSED 1u

/* The agent's answer, after which it closes. */
struct vgpu_register_reply {
  uint32_t magic;  /* agent: VGPU_REGISTER_MAGIC */
  uint32_t status; /* agent: VGPU_REGISTER_* */
};
VGPU_SIZE(vgpu_register_reply, 8);
VGPU_AT(vgpu_register_reply, magic, 0);
VGPU_AT(vgpu_register_reply, status, 4);

#endif
