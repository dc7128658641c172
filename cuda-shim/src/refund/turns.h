/*
 * Turns: when several containers of a card are backlogged, that is, may launch, have work, and do not get through for a
 * while, each gets a stretch of every period to itself, in proportion to what it may have, which saves the driver's
 * switching. One that has nothing to do in its turn gives it up at the next look. The price is latency: there are none
 * where a container asks for it.
 *
 * Pure: what happened before is in the card's state. Whole numbers only, as in refund.h.
 */
#ifndef VGPU_TURNS_H
#define VGPU_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TURN_CONTAINERS = 32,
  TURN_SLICES = 32,    /* a turn should hold so many of the container's longest slice */
  TURN_IDLE_LOOKS = 2, /* looks without work in its own turn, then it gives it up */
  TURN_SHORTEST_US = 20000,
  TURN_LONGEST_US = 80000
};

#define TURN_BACKLOG_NS INT64_C(120000000) /* so long two must have been backlogged */
#define TURN_GAP_NS INT64_C(20000000)      /* a shorter gap is no end of work */
#define TURN_END_NS INT64_C(500000000)     /* in debt, or without work, for so long: no longer one of them */

struct turn_look {
  uint64_t name;      /* not 0 */
  bool working;       /* something in flight on the card, or waiting to be */
  bool latency;       /* asks for latency */
  bool borrows;       /* policy balance or none: a part of what is idle is its own */
  uint32_t permille;  /* its limit */
  int64_t bucket_ns;  /* positive: it may launch */
  int64_t longest_ns; /* its longest slice lately */
};

/* As in `load`: length 0 for no turns. */
struct turn {
  uint32_t period_us, offset_us, length_us;
};

struct turn_member {
  uint64_t name; /* 0: unused */
  bool present;
  int64_t backlogged_since; /* 0: it is not */
  int64_t worked_ns, able_ns;
  uint32_t idle_looks;
};

struct turn_card {
  bool on;
  uint32_t period_us;
  struct turn_member members[TURN_CONTAINERS];
  uint64_t given_name[TURN_CONTAINERS]; /* the turns of the last look, to know whose is running */
  struct turn given[TURN_CONTAINERS];
};

/* One look: `out` gets `count` turns. Those beyond TURN_CONTAINERS have none. */
void turn_plan(struct turn_card *card, const struct turn_look *looks, uint32_t count, int64_t now_ns, struct turn *out);

#endif
