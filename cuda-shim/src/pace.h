/*
 * Where launches wait for GPU time. The entry points ask vgpu_pace_limited first, which is two loads; only where a core
 * limit is set do they come here.
 */
#ifndef VGPU_PACE_H
#define VGPU_PACE_H

#include "devices.h"

/*
 * Points to the flags of the one device's entry in limits, which the agent may change at any time; to 0 in a process without
 * limits; in a process with several devices to a word of our own that always says "limited", and the device decides later.
 */
extern _Atomic(const uint32_t *) vgpu_pace_flags;

static inline bool vgpu_pace_limited(void) {
  const uint32_t *flags = atomic_load_explicit(&vgpu_pace_flags, memory_order_relaxed);
  return (__atomic_load_n(flags, __ATOMIC_RELAXED) & VGPU_LIMIT_COMPUTE) != 0;
}

/* After cuInit, once the devices are known. */
void vgpu_pace_start(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared);

/* One launch. */
struct vgpu_launch {
  const struct vgpu_cuda *cuda;
  CUstream stream;  /* as given */
  bool per_thread;  /* what stream 0 means: CU_STREAM_PER_THREAD or CU_STREAM_LEGACY */
  bool graph;       /* an executable graph */
  const void *what; /* the function or the graph */
  void *slice;      /* for the limiter, from before to after */
};

/* Returns when the thread may launch. */
void vgpu_pace_before(struct vgpu_launch *launch);
/* `launched`: the driver took it. */
void vgpu_pace_after(struct vgpu_launch *launch, bool launched);

/* The thread is about to wait for the device: open slices end here. */
void vgpu_pace_wait(const struct vgpu_cuda *cuda);
/* These handles are about to become invalid. */
void vgpu_pace_stream_gone(CUstream stream);
void vgpu_pace_context_gone(CUcontext ctx);
void vgpu_pace_graph_gone(CUgraphExec graph);

#endif
