/*
 * Where launches wait for GPU time. The entry points ask vgpu_pace_limited first, which is two loads; only where a core
 * limit is set do they come here.
 */
#ifndef VGPU_PACE_H
#define VGPU_PACE_H

#include "devices.h"
#include "pace/fast.h"

/*
 * Points to the flags of the one device's entry in limits, which the agent may change at any time; to 0 in a process without
 * limits; in a process with several devices to a word of our own that always says "limited", and the device decides later.
 */
extern _Atomic(const uint32_t *) vgpu_pace_flags;

static inline bool vgpu_pace_limited(void) {
  const uint32_t *flags = atomic_load_explicit(&vgpu_pace_flags, memory_order_relaxed);
  return (__atomic_load_n(flags, __ATOMIC_RELAXED) & VGPU_LIMIT_COMPUTE) != 0;
}

/* This thread's slices; null until its first launch under a limit. */
extern _Thread_local struct pace_thread *vgpu_pace_self __attribute__((tls_model("initial-exec")));

static inline pace_handle vgpu_pace_key(CUstream stream, bool per_thread) {
  return stream != NULL ? (pace_handle)(uintptr_t)stream : per_thread ? PACE_PER_THREAD : PACE_LEGACY;
}

/* Whether a launch belongs to a slice that is under way: then it needs no more than this. */
static inline bool vgpu_pace_pass(CUstream stream, bool per_thread) {
  return pace_pass(vgpu_pace_self, vgpu_pace_key(stream, per_thread));
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
/* These handles are about to become invalid; a context that then does not go is only measured anew. */
void vgpu_pace_stream_gone(CUstream stream);
void vgpu_pace_context_gone(CUcontext ctx);
void vgpu_pace_graph_gone(CUgraphExec graph);

#endif
