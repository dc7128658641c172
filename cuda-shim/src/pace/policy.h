/*
 * Which share applies now: the promised one, or under policy balance up to the ceiling while nobody else uses the card. The
 * agent says who is active; if it has been silent for a while nothing is lent, since nobody would ask for it back.
 */
#ifndef VGPU_PACE_POLICY_H
#define VGPU_PACE_POLICY_H

#include "bucket.h"
#include "shared.h"

#define PACE_QUIET_NS (500 * PACE_MS) /* alone so long before anything is lent */
#define PACE_RAMP_NS (500 * PACE_MS)  /* then from the promised share to the ceiling */
#define PACE_STALE_NS (2 * PACE_S)    /* the agent's word is not believed any longer */

/* What this process has seen of one card's neighbours. */
struct pace_policy {
  int64_t quiet_since_ns; /* 0: somebody is there */
  int64_t looked_ns;
};

/* What the agent says of a card, copied whole. */
struct pace_load {
  bool known; /* there is a `load`, and it could be read */
  uint32_t seq;
  uint32_t others_active;
  int64_t sample_ns; /* in the container's time */
  uint64_t refund_ns;
  int64_t turn_period_ns, turn_offset_ns, turn_length_ns; /* offset in the container's time; length 0: no turns */
};

/* `load` may be null. After VGPU_SEQLOCK_TRIES it is as if there were none. */
struct pace_load pace_load_read(const struct vgpu_load *load, uint32_t device);

struct pace_terms pace_terms_now(struct pace_policy *p, const struct vgpu_limit *limit, const struct pace_load *load,
                                 int64_t now_ns);

#endif
