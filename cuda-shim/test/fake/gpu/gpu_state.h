/*
 * The fake cards of a machine: one file, mapped by every process that uses the fake driver. It holds what the hardware
 * would hold: who owns how much memory, what waits to run, what has run. No process is special: whoever needs an answer
 * works the schedule out up to now, under the card's lock.
 *
 * A process owns one slot. It is alive as long as it holds the record lock on its slot's byte of the file. The kernel
 * drops that lock when the process ends however it ends, does not hand it to a forked child, and tells an asker the
 * owner's pid in the asker's own pid namespace, so a tool outside a container sees host pids. The price: a process must
 * never close a descriptor of this file (that would drop its lock), so nobody here ever does.
 */
#ifndef VGPU_FAKE_GPU_STATE_H
#define VGPU_FAKE_GPU_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MAGIC UINT64_C(0x3155504745454146)

enum {
  GPU_VERSION = 1,
  GPU_DEVICES = 16,
  GPU_PROCESSES = 1024,
  GPU_QUEUES = 256, /* processes with a context on one card */
  GPU_RING = 1024,  /* operations that a process may queue on one card, as the real driver's about 1000 */
  GPU_BUCKETS = 64, /* of 100 ms each, for utilisation */
  GPU_BUCKET_NS = 100000000
};

/* A kernel, a graph, or a mark (no work) whose time an event wants. Written by the owner, times by the schedule. */
struct gpu_op {
  uint64_t arrival_ns;
  uint64_t work_ns;
  uint64_t start_ns, end_ns;
  uint64_t kernels;
};

struct gpu_queue {
  _Alignas(64) _Atomic uint32_t owner;  /* tag of the process, 0 free; changed under the card's schedule lock */
  _Alignas(64) _Atomic uint64_t pushed; /* by the owner alone */
  _Alignas(64) _Atomic uint64_t done;   /* by the schedule */
  uint64_t left_ns;                     /* of the operation at `done`, once it has begun */
  bool begun;
  struct gpu_op ops[GPU_RING];
};

struct gpu_bucket {
  _Atomic uint64_t number; /* time / GPU_BUCKET_NS */
  _Atomic uint64_t busy_ns;
};

struct gpu_device {
  char uuid[80];
  uint64_t total; /* bytes that processes can have */
  _Alignas(64) _Atomic uint32_t memory_lock;
  _Atomic uint64_t used, peak; /* sum of the processes, under the lock; the highest that it has been */
  _Alignas(64) _Atomic uint32_t schedule_lock;
  _Atomic uint64_t now_ns;             /* the schedule is worked out up to here */
  _Atomic uint64_t busy_ns, switch_ns; /* kernels ran; the card changed from one process to another */
  uint64_t slice_left_ns;
  uint64_t looked_for_dead_ns;
  uint32_t current, last_ran; /* queues, GPU_QUEUES: none */
  uint32_t queue_high;        /* no queue at or above was ever used */
  struct gpu_bucket buckets[GPU_BUCKETS];
};

/* What one process has on one card. Memory under the card's memory lock, the rest under its schedule lock. */
struct gpu_share {
  _Atomic uint64_t bytes, peak;
  _Atomic uint64_t busy_ns, kernels;
  _Atomic uint32_t contexts;
};

struct gpu_process {
  _Alignas(64) _Atomic uint32_t generation; /* counts the owners of the slot; 0: never used */
  _Atomic int32_t pid;                      /* in its own pid namespace */
  _Atomic uint64_t pid_namespace;           /* inode */
  _Atomic uint64_t started_ns;              /* CLOCK_MONOTONIC */
  char name[16];
  struct gpu_share on[GPU_DEVICES];
};

struct gpu_state {
  _Atomic uint64_t magic; /* written last */
  uint32_t version;
  uint32_t device_count;
  uint64_t bytes;
  uint64_t slice_ns, switch_ns; /* how the cards share time */
  uint64_t context_bytes, granule;
  _Alignas(64) _Atomic uint32_t process_lock; /* claiming a slot */
  _Atomic uint32_t process_high;              /* no slot at or above was ever used */
  _Alignas(64) struct gpu_device devices[GPU_DEVICES];
  struct gpu_process processes[GPU_PROCESSES];
  _Alignas(4096) struct gpu_queue queues[GPU_DEVICES][GPU_QUEUES]; /* a hole in the file where nobody was */
};

/* This process's view of the file. */
struct gpu {
  struct gpu_state *state;
  int fd;
  uint32_t slot, tag; /* tag 0: reads only */
};

uint64_t gpu_clock_ns(void);

/* FAKE_GPUS_STATE, else `<profile>.state`. False if it does not fit. */
bool gpu_state_path(const char *profile_path, char *out, size_t bytes);

/* Maps an existing file for reading. True on error, with errno-style text in *why. */
bool gpu_open_reader(struct gpu *g, const char *path, const char **why);

/* Whether the slot's owner lives; *pid (may be null) its pid as this process sees it, 0 if it cannot. */
bool gpu_alive(const struct gpu *g, uint32_t slot, int *pid);

/* Bytes that living processes have on a card. */
uint64_t gpu_used_by_living(const struct gpu *g, uint32_t device);

/* Share of the last `window_ns` in which the card was busy, in permille; a card that nobody asks stays as busy as its queue. */
unsigned gpu_busy_permille(const struct gpu *g, uint32_t device, uint64_t now_ns, uint64_t window_ns);

#endif
