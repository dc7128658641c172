/*
 * What a process had of one of its intervals, from the intervals of its neighbours: pure arithmetic.
 *
 * A neighbour's short interval is the neighbour's alone, and costs switches. Where nobody else has a long one in flight, the
 * card is taken from a running kernel and comes back: both switches count. Where others have, the card would have gone
 * to the next of them anyway, and that switch is in the shared loss already: only the switch back is additional. (Counting
 * both gave two long tenants of four 2.5 points too much.) The rest is shared equally by all that have a long one in flight,
 * less what they lose in switching.
 */
#ifndef VGPU_REFUND_SHARE_H
#define VGPU_REFUND_SHARE_H

#include <stdint.h>

#include "gpu_model.h"

enum {
  REFUND_HISTORY = 512, /* intervals kept of one process; a power of two */
  REFUND_CUTS = 128,    /* beginnings and ends of neighbours' long intervals inside one */
  REFUND_SHORTS = 4096, /* neighbours' short intervals inside one */
  REFUND_MOST_PERCENT = 95
};

/* Host's CLOCK_MONOTONIC, ns; end > start. */
struct refund_span {
  int64_t start, end;
};

/* In order, not overlapping; the n-th at n mod REFUND_HISTORY. */
struct refund_history {
  uint64_t first, next;
  struct refund_span spans[REFUND_HISTORY];
};

struct refund_share {
  int64_t own;    /* what the process had */
  int64_t refund; /* what it is given back, at most 95 % of the interval */
  int64_t lost;   /* the part of the refund that is nobody's: switches, divided among those that wait for them */
};

/* What is too much to look at counts as the process's own: an error on the safe side. */
struct refund_share refund_share_of(const struct gpu_model *model, struct refund_span interval,
                                    const struct refund_history *const *others, uint32_t count);

#endif
