/*
 * What this process tells the others of its slices: the finished ones as intervals in its ring, from which the agent works
 * out what neighbours had of them, and what is in flight, which siblings leave room for.
 */
#ifndef VGPU_PACE_INTERVAL_H
#define VGPU_PACE_INTERVAL_H

#include <stdatomic.h>

#include "vgpu/abi.h"

/* Of the whole process, in all its devices. The figures in the slot are copies: who scribbles over them changes nothing here. */
struct pace_flight {
  struct vgpu_usage *usage;
  uint32_t slot;
  _Atomic int64_t inflight_ns[VGPU_MAX_DEVICES];
};

/* One writer at a time. Slots from VGPU_RING_SLOTS on have no ring. */
void interval_post(const struct pace_flight *f, uint32_t device, int64_t start_ns, int64_t end_ns);

/* Adds to what is in flight, or takes off it. Any thread. */
void inflight_add(struct pace_flight *f, uint32_t device, int64_t ns);

/* Estimate of what all processes of the container have in flight; `own_ns` may be null and gets ours alone. */
int64_t inflight_sum(struct pace_flight *f, uint32_t device, int64_t *own_ns);

static inline void interval_open_since(const struct pace_flight *f, int64_t ns) {
  __atomic_store_n(&f->usage->slots[f->slot].open_since_ns, (uint64_t)ns, __ATOMIC_RELEASE);
}

#endif
