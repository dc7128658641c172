/*
 * A card that several processes share, in virtual time: slices of 2.06 ms in turn, a dear switch away from a running kernel, a
 * cheaper one from a process that has nothing left. These three figures follow from what an H200 showed (a short kernel in
 * a long one costs 0.34 ms, kernels queued by two lose a tenth, kernels waited for one by one a seventh). Each process
 * launches a kernel when its container's bucket allows, and posts it as the library does; the ledger under test refunds.
 */
#ifndef VGPU_TEST_SLICER_H
#define VGPU_TEST_SLICER_H

#include <stdlib.h>
#include <string.h>

#include "refund/refund.h"

enum { SIM_STEP_US = 5, SIM_TENANTS = 8, SIM_SLICE_US = 2060, SIM_LEAVE_US = 205, SIM_BACK_US = 135, SIM_TICK_US = 5000 };

struct sim_tenant {
  int32_t kernel_us;
  uint32_t permille;
  /* state */
  int32_t left_us;    /* of the kernel in flight; 0: none */
  int64_t started_us; /* -1: not yet on the card */
  int64_t bucket_ns;
  int64_t credit_ns;
  uint64_t taken_ns;
  int64_t gap_until_us;
  uint64_t raw_ns;
  int64_t done_us; /* work that was really done */
  struct vgpu_usage_slot slot;
  struct vgpu_ring ring;
};

struct sim {
  struct sim_tenant tenants[SIM_TENANTS];
  uint32_t count;
  struct refund_card *card;
  int64_t now_us;
  uint32_t current;
  int32_t slice_us, switching_us;
  bool refunds;
};

static inline void sim_post(struct sim_tenant *t, int64_t now_us) {
  int64_t length = now_us - t->started_us;
  t->raw_ns += (uint64_t)length * 1000;
  t->bucket_ns -= length * 1000;
  t->credit_ns = t->credit_ns > length * 1000 ? t->credit_ns - length * 1000 : 0;
  t->ring.entries[t->ring.head % VGPU_RING_ENTRIES] = (struct vgpu_interval){t->started_us * 1000, (uint32_t)length, 0};
  t->ring.head++;
  t->slot.open_since_ns = 0;
  t->gap_until_us = now_us + 10; /* the host's pause until the next launch */
}

static inline void sim_tick(struct sim *s) {
  struct refund_look looks[SIM_TENANTS];
  for (uint32_t i = 0; i < s->count; i++) {
    struct sim_tenant *t = &s->tenants[i];
    looks[i] = (struct refund_look){i + 1, 0, 1, t->permille, 1, 0, t->raw_ns, t->bucket_ns, &t->slot, &t->ring};
  }
  refund_tick(s->card, looks, s->count, s->now_us * 1000);
  for (uint32_t i = 0; i < s->count && s->refunds; i++) {
    struct sim_tenant *t = &s->tenants[i];
    const struct refund_container *c = refund_find(s->card, i + 1);
    int64_t more = (int64_t)(c->refund_ns - t->taken_ns);
    t->taken_ns = c->refund_ns;
    t->bucket_ns += more;
    t->credit_ns += more;
  }
}

static inline bool sim_has_work(const struct sim_tenant *t) { return t->left_us > 0; }

static inline uint32_t sim_next(const struct sim *s) {
  for (uint32_t k = 1; k <= s->count; k++) {
    uint32_t i = (s->current + k) % s->count;
    if (sim_has_work(&s->tenants[i])) return i;
  }
  return s->current;
}

static inline void sim_step(struct sim *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    struct sim_tenant *t = &s->tenants[i];
    int64_t cap = 150000000ll * t->permille / 1000 + t->credit_ns;
    t->bucket_ns += (int64_t)SIM_STEP_US * t->permille;
    if (t->bucket_ns > cap) t->bucket_ns = cap;
    if (!sim_has_work(t) && t->bucket_ns > 0 && s->now_us >= t->gap_until_us) {
      t->left_us = t->kernel_us;
      t->started_us = -1;
      t->slot.open_since_ns = (uint64_t)s->now_us * 1000;
    }
  }
  s->now_us += SIM_STEP_US;
  if (s->switching_us > 0) {
    s->switching_us -= SIM_STEP_US;
  } else {
    struct sim_tenant *t = &s->tenants[s->current];
    if (sim_has_work(t)) {
      if (t->started_us < 0) t->started_us = s->now_us - SIM_STEP_US;
      t->left_us -= SIM_STEP_US;
      t->done_us += SIM_STEP_US;
      if (sim_next(s) != s->current) s->slice_us += SIM_STEP_US; /* a slice is only counted while somebody waits */
      if (t->left_us <= 0) sim_post(t, s->now_us);
    }
    uint32_t next = sim_next(s);
    if (next != s->current && (!sim_has_work(t) || s->slice_us >= SIM_SLICE_US)) {
      s->switching_us = sim_has_work(t) ? SIM_LEAVE_US : SIM_BACK_US;
      s->current = next;
      s->slice_us = 0;
    }
  }
  if (s->now_us % SIM_TICK_US == 0) sim_tick(s);
}

/* Permille of the card that each tenant's work was of the last `seconds`, after a second to settle. */
static inline void sim_run(struct sim *s, int seconds, uint32_t *permille) {
  s->now_us = 1000000000;
  refund_begin(s->card, gpu_model_of("NVIDIA H200"));
  for (uint32_t i = 0; i < s->count; i++) s->tenants[i].slot.state = VGPU_SLOT_LIVE;
  int64_t measured_from = s->now_us + 1000000, until = measured_from + seconds * INT64_C(1000000), before[SIM_TENANTS] = {0};
  while (s->now_us < until) {
    sim_step(s);
    if (s->now_us == measured_from) {
      for (uint32_t i = 0; i < s->count; i++) before[i] = s->tenants[i].done_us;
    }
  }
  for (uint32_t i = 0; i < s->count; i++) permille[i] = (uint32_t)((s->tenants[i].done_us - before[i]) / (seconds * 1000));
}

#endif
