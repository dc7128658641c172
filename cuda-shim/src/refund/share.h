/*
 * What a process had of one of its intervals, from the intervals of its neighbours: pure arithmetic.
 *
 * An interval of one or two time slices (brief) holds at most one or two interruptions, and each has the length of a whole
 * round: every neighbour that is in flight has its time slice, or what it has left to do. So what the process had is what
 * remains, to the microsecond (measured: 0.740 ms of 3.206). An interval no longer than a time slice holds no neighbour's
 * whole slice, only neighbours that had less to do. A process is interrupted once for each time slice that it had itself:
 * that bounds what can be made of invented neighbours.
 *
 * In a long interval a neighbour's short interval is the neighbour's alone, and costs switches. Where nobody else has a long one in flight, the
 * card is taken from a running kernel and comes back: both switches count. Where others have, the card would have gone
 * to the next of them anyway, and that switch is in the shared loss already: only the switch back is additional. (Counting
 * both gave two long tenants of four 2.5 points too much.) The rest is shared equally by all that have a long one in flight,
 * less what they lose in switching.
 */
#ifndef VGPU_REFUND_SHARE_H
#define VGPU_REFUND_SHARE_H

#include <stdbool.h>
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

/* The first interval that ends after `at`; h->next if none does. */
uint64_t refund_first_after(const struct refund_history *h, int64_t at);

struct refund_share {
  int64_t own;    /* what the process had */
  int64_t refund; /* what it is given back, at most 95 % of the interval */
  int64_t lost;   /* the part of the refund that is nobody's: switches, divided among those that wait for them */
  uint32_t turns; /* interruptions of a brief interval */
};

/* Up to here nobody else's whole time slice fits in. */
static inline int64_t refund_whole_ns(const struct gpu_model *m) { return (int64_t)m->turn_us * 1060; }
/* Up to here an interval is brief: interruptions can be counted. */
static inline int64_t refund_brief_ns(const struct gpu_model *m) {
  return 2 * (2 * (int64_t)m->turn_us + m->leave_us + m->back_us) * 1000;
}
/* Up to here an interval holds no interruption at all. */
static inline int64_t refund_least_ns(const struct gpu_model *m) { return ((int64_t)m->leave_us + m->back_us) * 1000; }

/*
 * `earned_ns`: what the process has had of the card before, less refund_turn_price_ns for each interruption counted.
 * `fresh`: it had not had the card just before. What is too much to look at counts as the process's own: an error on the
 * safe side.
 */
struct refund_share refund_share_of(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns, bool fresh,
                                    const struct refund_history *const *others, uint32_t count);

/* What one interruption costs of what a process has earned by having the card. A little less than a time slice: they tremble. */
static inline int64_t refund_turn_price_ns(const struct gpu_model *m) { return (int64_t)m->turn_us * 900; }

#endif
