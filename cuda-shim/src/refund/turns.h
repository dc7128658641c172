/*
 * Turns: when several containers of a card work all the time, and one of them saves up what it may have because it does not
 * get through, each gets a stretch of every period to itself, in proportion to what it may have, which saves the driver's
 * switching. One that has nothing to do in its turn gives it up at the next look. The price is latency: there are none
 * while a container works that asks for it, and none for one that works now and then.
 *
 * Pure: what happened before is in the card's state. Whole numbers only, as in refund.h.
 */
#ifndef VGPU_TURNS_H
#define VGPU_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TURN_CONTAINERS = 32,
  TURN_SLICES = 48,        /* a turn should hold so many of the container's longest slice */
  TURN_FITTED_SLICES = 20, /* fewer than so many must fit */
  TURN_SLACK_US = 600,     /* what a turn needs beside its slices: it takes a moment to begin, and to launch */
  TURN_IDLE_LOOKS = 2,     /* looks without work in its own turn, then it gives it up */
  TURN_SHORTEST_US = 20000,
  TURN_LONGEST_US = 80000
};

#define TURN_BACKLOG_NS INT64_C(120000000) /* so long one must have been backlogged */
#define TURN_SAVED_NS INT64_C(4000000)     /* GPU time saved up by one that does not get through */
#define TURN_END_NS INT64_C(500000000)     /* without work for so long: no longer one of them */
#define TURN_STEADY_NS INT64_C(2000000000) /* between small changes of the period */
#define TURN_LOOKS_MASK 0xFFFFFFu          /* the last looks, */
#define TURN_LOOKS_AT_WORK 22              /* and at how many of them one is at work that works all the time */

struct turn_look {
  uint64_t name;      /* not 0 */
  bool working;       /* something in flight on the card */
  bool latency;       /* asks for latency */
  bool borrows;       /* policy balance or none: a part of what is idle is its own */
  uint32_t permille;  /* its limit */
  int64_t bucket_ns;  /* not positive: it waits until it may launch */
  int64_t longest_ns; /* its longest slice lately */
};

/* As in `load`: length 0 for no turns. */
struct turn {
  uint32_t period_us, offset_us, length_us;
};

struct turn_member {
  uint64_t name; /* 0: unused */
  bool present;
  int64_t backlogged_since;    /* 0: it is not */
  int64_t worked_ns, saved_ns; /* last at work; last with something saved up */
  uint32_t at_work;            /* the last looks, a bit each */
  uint32_t idle_looks;
};

struct turn_card {
  bool on;
  uint32_t period_us;
  int64_t period_since_ns;
  struct turn_member members[TURN_CONTAINERS];
  uint64_t given_name[TURN_CONTAINERS]; /* the turns of the last look, to know whose is running */
  struct turn given[TURN_CONTAINERS];
};

/* One look: `out` gets `count` turns. Those beyond TURN_CONTAINERS have none. */
void turn_plan(struct turn_card *card, const struct turn_look *looks, uint32_t count, int64_t now_ns, struct turn *out);

#endif
