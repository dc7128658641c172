/*
 * The inside of the fake libcuda.so.1. Every exported function begins with ENTER, which counts the call and refuses it
 * where the real driver would: before cuInit, and in a child of a process that had called it.
 */
#ifndef VGPU_FAKE_DRIVER_H
#define VGPU_FAKE_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_more.h"
#include "gpu/gpu_own.h"
#include "profile.h"

/* The prototypes of what hooks.def states: a function here with other types does not compile. */
#define CU(name, base, since, flavor, class, params, args) CUresult name params;
#define NV(name, class, params, args)
#define PASS(name, reason)
#include "hooks.def"
#undef CU
#undef NV
#undef PASS

/* ---- calls ---------------------------------------------------------------------------------------------------------- */

struct call_site {
  const char *name;
  struct call_site *next;
  _Atomic unsigned long long count;
  _Atomic int known; /* 0 not in the list, 1 being added, 2 in it */
};

/* Counts, and says what a fault that was asked for answers; CUDA_SUCCESS to go on. */
CUresult call_begin(struct call_site *site);

#define SITE                                         \
  static struct call_site site = {.name = __func__}; \
  CUresult refused = call_begin(&site);              \
  if (refused != CUDA_SUCCESS) return refused

/* For functions that may be called before cuInit. */
#define ENTER_OPEN SITE

#define ENTER               \
  SITE;                     \
  refused = driver_ready(); \
  if (refused != CUDA_SUCCESS) return refused

/* ENTER, and a current context in `ctx`. */
#define ENTER_CTX                           \
  ENTER;                                    \
  struct CUctx_st *ctx = context_current(); \
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT

/* The legacy and the per-thread function of a name whose do_NAME takes the flavour as its last argument. */
#define STREAM_PAIR(name, params, ...)    \
  CUresult name params;                   \
  CUresult name##_ptsz params;            \
  CUresult name params {                  \
    SITE_AND_READY;                       \
    return do_##name(__VA_ARGS__, false); \
  }                                       \
  CUresult name##_ptsz params {           \
    SITE_AND_READY;                       \
    return do_##name(__VA_ARGS__, true);  \
  }
#define DEFAULT_PAIR(name, params, ...)   \
  CUresult name params;                   \
  CUresult name##_ptds params;            \
  CUresult name params {                  \
    SITE_AND_READY;                       \
    return do_##name(__VA_ARGS__, false); \
  }                                       \
  CUresult name##_ptds params {           \
    SITE_AND_READY;                       \
    return do_##name(__VA_ARGS__, true);  \
  }
#define SITE_AND_READY ENTER

/* ---- the process ---------------------------------------------------------------------------------------------------- */

enum { DRIVER_MIB = 1 << 20 };

struct driver {
  _Atomic int state; /* 0 new, 1 ready, 2 child of a process that was ready */
  struct gpu gpu;
  struct fake_profile profile;
  uint32_t device_count;         /* visible ones */
  uint32_t visible[GPU_DEVICES]; /* ordinal to card */
  uint64_t default_kernel_ns;
};
extern struct driver driver;

CUresult driver_ready(void);
static inline bool valid_device(CUdevice d) { return d >= 0 && (uint32_t)d < driver.device_count; }
static inline uint32_t card_of(CUdevice d) { return driver.visible[d]; }
static inline struct fake_device *card_profile(CUdevice d) { return &driver.profile.devices[card_of(d)]; }

/* Device memory in multiples of the machine's granule; false: the card has not so much. */
bool device_take(CUdevice d, uint64_t bytes);
void device_give(CUdevice d, uint64_t bytes);
uint64_t device_round(uint64_t bytes);
CUresult device_multiprocessors(CUdevice d, int *count);

/* ---- MPS (mps.c) */

void mps_start(void);
bool mps_client(void);
int mps_multiprocessors(int all);

/* ---- lanes: this process's queue on one card ------------------------------------------------------------------------- */

struct lane {
  pthread_mutex_t lock;
  CUdevice device;
  struct gpu_queue *queue;
  struct CUevent_st *marks[GPU_RING]; /* events that wait for their time, by place in the ring */
};

/* The lane of a device, opened if need be; null if too many processes use the card. */
struct lane *lane_open(CUdevice d);
/* Queues work and returns its number, from 1 on: 0 stands for "nothing yet". The event, if any, gets its time. */
uint64_t lane_push(struct lane *lane, uint64_t work_ns, uint64_t kernels, struct CUevent_st *event);
bool lane_done(struct lane *lane, uint64_t number);
void lane_wait(struct lane *lane, uint64_t number);
/* When a finished event happened. */
uint64_t lane_time(struct lane *lane, struct CUevent_st *event);
/* Forgets the event. */
void lane_unmark(struct lane *lane, struct CUevent_st *event);

/* ---- objects -------------------------------------------------------------------------------------------------------- */

enum { MAGIC_CTX = 0x43545846, MAGIC_STREAM = 0x53545246, MAGIC_EVENT = 0x45565446, MAGIC_GONE = 0x474F4E45 };

struct CUctx_st {
  uint32_t magic;
  CUdevice device;
  unsigned int flags;
  unsigned int api_version;
  bool primary;
  unsigned long long id;
  struct lane *lane;
  _Atomic uint64_t last_blocking; /* newest operation of streams that the legacy stream waits for */
  _Atomic uint64_t last;          /* newest operation */
  size_t limits[16];
  int cache_config, shared_config;
  struct CUstream_st *legacy;
  struct CUstream_st *streams; /* under driver_lock */
  struct CUctx_st *next;
};

extern pthread_mutex_t driver_lock; /* lists of contexts, streams, events; never held while waiting */

struct CUctx_st *context_current(void);
bool context_valid(const struct CUctx_st *ctx);
void context_forget_allocations(struct CUctx_st *ctx); /* memory.c */

struct capture;

struct CUstream_st {
  uint32_t magic;
  struct CUctx_st *ctx;
  unsigned int flags;
  int priority;
  bool legacy, per_thread;
  unsigned long long id;
  _Atomic uint64_t last;            /* newest operation in the lane */
  struct later *later, **later_end; /* what waits for the host, in order; under later_lock */
  _Atomic int waiting;              /* how many of these */
  struct capture *capture;          /* not null while recording */
  struct CUstream_st *next;         /* of the context */
};

/* Null, 1 and 2 as the flavour means them. Null if the handle is no stream of a living context. */
struct CUstream_st *stream_of(CUstream handle, bool per_thread);

struct CUevent_st {
  uint32_t magic;
  struct CUctx_st *ctx;
  unsigned int flags;
  struct lane *lane;
  uint64_t number;         /* operation that marks it; 0 never recorded */
  _Atomic uint64_t end_ns; /* once known */
  _Atomic int waiting;     /* records that wait for the host to let the stream go on */
  struct capture *capture; /* recorded by a stream that records */
};

/* Work that must wait for the host: a host function, a value in memory, and all that follows it in its stream. */
enum later_kind { LATER_KERNEL, LATER_CALL, LATER_UNTIL, LATER_RECORD, LATER_AFTER };
struct later {
  enum later_kind kind;
  uint64_t work_ns, kernels;   /* LATER_KERNEL */
  void (*call)(void *), *data; /* LATER_CALL */
  void (*call_stream)(CUstream, CUresult, void *);
  bool owned;                           /* data is freed after it */
  bool (*until)(const struct later *l); /* LATER_UNTIL */
  const volatile void *address;
  uint64_t value;
  unsigned int flags;
  struct CUevent_st *event; /* LATER_RECORD, LATER_AFTER */
  struct later *next;
};

/* Work for a stream, at once or when the host has let it go on. Of data that has a size a copy is kept where need be. */
CUresult stream_work(struct CUstream_st *s, uint64_t work_ns, uint64_t kernels);
CUresult stream_call(struct CUstream_st *s, void (*call)(void *), void *data, size_t bytes);
/* A function of the application: only after all that the stream had to do before. */
CUresult stream_host(struct CUstream_st *s, CUhostFn fn, void *data);
void stream_later(struct CUstream_st *s, const struct later *l);
void stream_note(struct CUstream_st *s, uint64_t number);
void later_drain(struct CUstream_st *s);
void later_nap(void);
bool stream_done(struct CUstream_st *s);
void stream_wait(struct CUstream_st *s);
/* All that the legacy stream of the context waits for. */
void context_wait(struct CUctx_st *ctx, bool blocking_only);

/* ---- capture -------------------------------------------------------------------------------------------------------- */

/* CUDA_SUCCESS, or why this call may not be made now; breaks the captures that it disturbs. */
CUresult capture_unsafe(void);
CUresult capture_legacy(const struct CUstream_st *s);
CUresult capture_break(struct CUstream_st *s); /* for calls that a recording stream does not allow */
/* Adds to the graph of a recording stream. */
CUresult capture_kernel(struct CUstream_st *s, uint64_t work_ns);
CUresult capture_call(struct CUstream_st *s, void (*call)(void *), const void *data, size_t bytes, int type);
CUresult capture_host(struct CUstream_st *s, CUhostFn fn, void *data);
CUresult capture_alloc(struct CUstream_st *s, CUdeviceptr *dptr, size_t size);
CUresult capture_free(struct CUstream_st *s, CUdeviceptr dptr);
CUresult capture_record(struct CUstream_st *s, struct CUevent_st *e);
CUresult capture_wait(struct CUstream_st *s, struct CUevent_st *e);

/* ---- memory --------------------------------------------------------------------------------------------------------- */

enum memory_kind {
  MEMORY_DEVICE,
  MEMORY_MANAGED,
  MEMORY_HOST,
  MEMORY_REGISTERED,
  MEMORY_POOL,
  MEMORY_GRAPH,
  MEMORY_IPC,
  MEMORY_VMM
};

struct memory {
  uint64_t at, bytes; /* as asked for */
  uint64_t charged;   /* of the card, 0 if something else is charged for it */
  uint64_t mapped;    /* 0: not ours to unmap */
  enum memory_kind kind;
  CUdevice device;
  struct CUctx_st *ctx;
  CUmemoryPool pool;
  unsigned long long id;
};

/* Address space that can be read and written and costs no memory until touched. 0 if there is none. */
uint64_t memory_map(uint64_t bytes);
void memory_unmap(uint64_t at, uint64_t bytes);
/* The table of what there is. Lookups copy out, since another thread may free. */
bool memory_insert(const struct memory *m);
bool memory_remove(uint64_t at, struct memory *out);
bool memory_find(uint64_t address, struct memory *out); /* also inside */
/* Removes everything that `match` says. */
void memory_remove_if(bool (*match)(const struct memory *m, const void *what), const void *what);
CUresult memory_release(const struct memory *m); /* what was removed from the table */
CUresult memory_free_graph(const struct memory *m);

/* pool.c */
CUresult pool_alloc(CUmemoryPool pool, CUdeviceptr *dptr, size_t size, struct CUstream_st *s);
void pool_free(const struct memory *m);
void pools_settle(void); /* after a synchronisation: what is above the threshold goes back */
void pools_forget(CUdevice d);
CUresult graph_memory_take(CUdevice d, uint64_t bytes);
void graph_memory_give(CUdevice d, uint64_t bytes);

#endif
