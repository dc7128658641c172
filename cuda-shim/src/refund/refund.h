/*
 * What processes that share a card were charged for and did not have. A slice of GPU time longer than the driver's own time
 * slice holds the neighbours' turns; every process posts its slices as intervals, and this ledger, which sees all rings of a
 * card, works out what each long one really had. The rest is refunded.
 *
 * Rings are written by tenants, so nothing in them is believed that was not paid for (raw_busy_ns), that is more than the
 * container may have, or that does not fit into the wall time of the card: docs/vgpu-run.md tells the rules. Whole numbers
 * only: the agent has the same arithmetic in Java, and both must give the same bytes.
 *
 * No I/O, no allocation, bounded time; one thread at a time per card.
 */
#ifndef VGPU_REFUND_H
#define VGPU_REFUND_H

#include <stdbool.h>

#include "gpu_model.h"
#include "share.h"
#include "vgpu/abi.h"

enum {
  REFUND_CONTAINERS = 32, /* of one card; further ones earn nothing */
  REFUND_OTHERS = 128,    /* neighbours looked at for one interval */
  REFUND_SETTLED = 256    /* intervals settled at one look; the rest at the next */
};

#define REFUND_MS INT64_C(1000000)
#define REFUND_S INT64_C(1000000000)
#define REFUND_PATIENCE_NS REFUND_S               /* neighbours' intervals are awaited so long, */
#define REFUND_PATIENCE_WHOLE_NS (10 * REFUND_MS) /* and so long for one in which no whole time slice of theirs fits */
#define REFUND_WINDOW_NS (2 * REFUND_S)           /* what ended earlier is too old */
#define REFUND_LENGTH_MAX_NS (10 * REFUND_S)      /* of one interval */
#define REFUND_FUTURE_NS REFUND_MS                /* clocks of events and host differ by less */
#define REFUND_TOUCH_NS (50 * INT64_C(1000))      /* neighbours in one ring may overlap by the error of events */
#define REFUND_ACTIVE_NS (100 * REFUND_MS)        /* a process is active so long after its last slice, */
#define REFUND_DEBT_MAX_NS (2 * REFUND_S)    /* and so long after its container was in debt, which counts so much at most */
#define REFUND_PAID_SLACK_NS (5 * REFUND_MS) /* posted before it is charged */
#define REFUND_SHARE_CAP_NS (2 * REFUND_S)   /* what a container may have saved up */
#define REFUND_POT_NS REFUND_S               /* wall time of the card that is not anybody's yet */

/* Why an interval counts for nothing. */
enum refund_drop {
  REFUND_DROP_HEAD,   /* the ring's head went back, or on by more than the ring holds */
  REFUND_DROP_DEVICE, /* of no card of the container */
  REFUND_DROP_LENGTH, /* nothing, or longer than can be */
  REFUND_DROP_FUTURE, /* ends after now */
  REFUND_DROP_OLD,    /* ended before the window */
  REFUND_DROP_ORDER,  /* begins before the one before it ended */
  REFUND_DROP_UNPAID, /* the container was not charged for it */
  REFUND_DROP_BEYOND, /* the container may not have so much */
  REFUND_DROP_LATE,   /* overtaken by newer ones before it was settled */
  REFUND_DROPS
};

struct refund_process {
  bool known;
  bool overdue; /* its neighbours have waited in vain; they do not again until it posts something */
  uint64_t generation;
  uint64_t head;      /* entries of the ring taken so far */
  int64_t last_end;   /* of what was accepted last */
  int64_t open_since; /* at this look; 0: nothing in flight */
  uint64_t unsettled; /* first interval of the history that is not settled */
  int64_t earned_ns;  /* what it has had of the card, less a time slice for each interruption counted */
  struct refund_history history;
};

struct refund_container {
  uint64_t name; /* the caller's; 0: unused */
  bool present;
  uint64_t raw_busy_ns;
  int64_t able_ns;    /* when its bucket lets it launch again, as of the last look at which it was in debt */
  int64_t paid_ns;    /* charged and not posted yet */
  int64_t share_ns;   /* what it may have and has not had */
  uint64_t refund_ns; /* cumulative */
  uint32_t others_active;
  uint32_t active;
  int64_t longest_ns[2];  /* slice of this second and the one before, without the neighbours' turns in it */
  int64_t shortest_ns[2]; /* the same of slices for which something was refunded; 0: none */
  int64_t bucket_ns;      /* at this look, and what this look refunded */
  uint32_t share_permille;
  struct refund_process processes[VGPU_RING_SLOTS];
};

struct refund_card {
  const struct gpu_model *model;
  int64_t last_ns;
  int64_t passed_ns; /* between this look and the one before */
  uint32_t posted;   /* most that one process had posted at this look */
  int64_t second_ns; /* when this second began, for longest_ns */
  int64_t pot_ns;    /* wall time less what is charged: refunds of time that was nobody's come out of it */
  uint64_t accepted, settled, refunded_ns;
  uint64_t clipped_ns; /* not refunded, because the pot was empty */
  uint64_t dropped[REFUND_DROPS];
  struct refund_container containers[REFUND_CONTAINERS];
};

/* One container as it was at a look. Slots are copied before rings, so that an interval is in one or the other. */
struct refund_look {
  uint64_t name;           /* not 0; the same at each look */
  uint32_t device;         /* which of its entries is this card */
  uint32_t device_count;   /* its entries, at most VGPU_MAX_DEVICES */
  uint32_t share_permille; /* the most it may have: hard, soft where it may borrow, full where it is not limited */
  uint32_t slot_count;     /* of the two below, at most VGPU_RING_SLOTS */
  int64_t offset_ns;       /* the header's: container's clock less host's */
  uint64_t raw_busy_ns;
  int64_t bucket_ns; /* negative: in debt, so it will not launch before long */
  const struct vgpu_usage_slot *slots;
  const struct vgpu_ring *rings;
};

/* `card` is zero, or anything. */
void refund_begin(struct refund_card *card, const struct gpu_model *model);

/* One look at all containers of the card at `now_ns` of the host's CLOCK_MONOTONIC. Who is missing is forgotten. */
void refund_tick(struct refund_card *card, const struct refund_look *looks, uint32_t count, int64_t now_ns);

/* Null: not known, or one too many. */
const struct refund_container *refund_find(const struct refund_card *card, uint64_t name);

/* A container that was known before, by another ledger of the card, goes on from there. */
void refund_adopt(struct refund_card *card, uint64_t name, uint64_t refund_ns, uint64_t raw_busy_ns);

#endif
