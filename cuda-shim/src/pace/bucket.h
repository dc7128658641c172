/*
 * The GPU time that a container may still spend on one card: one word in `usage`, shared by its processes and changed with
 * atomics only. Whoever needs it fills it up first; no thread is needed for that. Whatever the container may have written
 * there, each function ends after a bounded number of steps and leaves a value within its bounds.
 */
#ifndef VGPU_PACE_BUCKET_H
#define VGPU_PACE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "vgpu/abi.h"

#define PACE_MS INT64_C(1000000)
#define PACE_S (1000 * PACE_MS)

enum { PACE_CAS_TRIES = 100 };

/* What `limits` and `load` say at one moment. */
struct pace_terms {
  uint32_t permille;    /* share of the wall time, 1 to 1000 */
  int64_t cap_ns;       /* of the bucket, before what is in flight and what was refunded */
  int64_t debt_ns;      /* how far below 0 it may go */
  int64_t runahead_ns;  /* wanted length of a slice */
  int64_t max_stall_ns; /* longest wait of one launch */
  int64_t queue_ns;     /* more than PACE_UNFINISHED slices of a stream may be in flight up to so much */
  bool unlimited;       /* launches pass unmeasured */
  bool partitioned;     /* the card is, so that what holds must be looked at often */
  bool refunds;         /* what the agent gives back is taken */
};

/* Adds share × time since the last one who did, up to the cap plus `inflight_ns` plus what refunds have left. */
void bucket_refill(struct vgpu_usage_device *u, int64_t now_ns, const struct pace_terms *terms, int64_t inflight_ns);

/* Moves what the agent has given back since the last one who looked into the bucket. `refund_ns` is cumulative. */
void bucket_take_refund(struct vgpu_usage_device *u, uint64_t refund_ns);

/* Pays for a finished slice. */
void bucket_charge(struct vgpu_usage_device *u, int64_t ns, const struct pace_terms *terms);

static inline int64_t bucket_level(const struct vgpu_usage_device *u) {
  return __atomic_load_n(&u->bucket_ns, __ATOMIC_ACQUIRE);
}

/* Time until `missing_ns` of GPU time have come in. */
static inline int64_t bucket_time_for(int64_t missing_ns, const struct pace_terms *terms) {
  return missing_ns <= 0 ? 0 : missing_ns > 1000 * PACE_S ? 1000 * PACE_S : missing_ns * 1000 / terms->permille;
}

#endif
