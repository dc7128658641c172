/* Waiting: for the slice before last, for tokens, for the container's turn. Every wait has an end. */
#include "core.h"

#define ESCAPE_NS (50 * PACE_MS) /* a slice elsewhere may be waiting for what this thread is about to launch */
#define REAP_NS (100 * PACE_MS)

static int64_t now(const struct pace *p) { return p->world->now_ns(p->world->self); }

bool pace_terms(struct pace *p, uint8_t device, struct pace_terms *terms, struct pace_load *load) {
  struct vgpu_limit limit;
  if (!vgpu_limit_read(p->shared, device, &limit)) return false;
  *load = pace_load_read(p->shared->load, device);
  if ((limit.flags & VGPU_LIMIT_MPS) == 0) {
    *terms = pace_terms_now(&p->devices[device].policy, &limit, load, now(p));
    return true;
  }
  struct pace_space space = pace_space_look(p, device, &limit);
  if (space.holds) { /* all processes of the container together may have the time of one */
    limit.core_hard_permille = limit.core_soft_permille = VGPU_PERMILLE_FULL;
    load->turn_length_ns = 0;
  }
  *terms = pace_terms_now(&p->devices[device].policy, &limit, load, now(p));
  terms->partitioned = true;
  terms->refunds = !space.holds && !space.shared;
  if (space.holds) terms->unlimited = (limit.flags & VGPU_LIMIT_COMPUTE) == 0 || space.alone;
  return true;
}

static int64_t between(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

/* Others may bury streams and contexts of ours while we sleep. */
static bool nap(struct pace *p, struct pace_thread *t, const struct pace_entry *e, const struct pace_load *load, int64_t ns) {
  const struct pace_world *w = p->world;
  pace_handle key = e->key;
  lock_give(&t->lock);
  if (load->known) {
    w->wait(w->self, &p->shared->load->devices[e->device].seq, load->seq, ns);
  } else {
    w->sleep(w->self, ns);
  }
  for (int i = 0; i < 5 && !lock_take(&t->lock); i++) continue; /* held for moments only, by threads that bury something */
  return e->key == key;
}

/* A dead sibling's estimate would keep us waiting. */
static void reap_now_and_then(struct pace *p, struct pace_device *d, int64_t now_ns) {
  int64_t last = __atomic_load_n(&d->reaped_ns, __ATOMIC_RELAXED);
  if (now_ns - last < REAP_NS) return;
  if (__atomic_compare_exchange_n(&d->reaped_ns, &last, now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    p->world->reap(p->world->self);
}

/* What of our own is still to run: of the oldest slice, less than its estimate. */
static int64_t ahead(struct pace_thread *t, const struct pace_entry *e, int64_t sum_ns, int64_t now_ns) {
  const struct pace_slice *oldest = pace_oldest(t, e);
  if (oldest == NULL) return sum_ns;
  int64_t begun = oldest->begun_ns != 0 ? oldest->begun_ns : oldest->opened_ns;
  int64_t done = between(now_ns - begun, 0, oldest->predicted_ns);
  return sum_ns > done ? sum_ns - done : 0;
}

void pace_admit(struct pace *p, struct pace_thread *t, struct pace_entry *e, const void *what, int64_t *room_ns) {
  struct pace_device *d = &p->devices[e->device];
  struct vgpu_usage_device *u = &p->flight.usage->devices[e->device];
  struct pace_terms terms;
  struct pace_load load;
  int64_t began = now(p), short_of_since = 0;
  *room_ns = INT64_MAX;
  for (;;) {
    pace_settle(p, t);
    if (!pace_terms(p, e->device, &terms, &load) || terms.unlimited) return;
    int64_t at = now(p);
    int64_t own, sum = inflight_sum(&p->flight, e->device, &own);
    int64_t each = pace_mean(e, what);
    bool queue = each > 0 && e->unfinished < PACE_QUEUED && sum + each <= terms.queue_ns;
    if (e->unfinished >= PACE_UNFINISHED && !queue) {
      bool elsewhere = atomic_load_explicit(&p->unfinished, memory_order_relaxed) > e->unfinished;
      int64_t waited = at - began;
      if (waited >= (elsewhere && terms.max_stall_ns > ESCAPE_NS ? ESCAPE_NS : terms.max_stall_ns)) return;
      pace_close_all(p, t);
      struct pace_load unheard = {.known = false}; /* no word of the agent's ends a slice */
      if (!nap(p, t, e, &unheard, between(waited / 8, PACE_STEP_NS, 4 * PACE_STEP_NS))) return;
      continue;
    }
    if (short_of_since == 0) short_of_since = at;
    if (load.known && terms.refunds) bucket_take_refund(u, load.refund_ns);
    bucket_refill(u, at, &terms, sum);
    int64_t level = bucket_level(u), spare = level - sum, wait;
    if (spare > 0) {
      wait = turn_wait(&d->turn, &load, at, ahead(t, e, sum, at), pace_mean(e, what), room_ns);
      if (wait == 0) return;
    } else {
      wait = bucket_time_for(1 - spare, &terms);
      if (level > 0 && sum > own) reap_now_and_then(p, d, at);
    }
    if (at - short_of_since >= terms.max_stall_ns) return;
    pace_close_all(p, t); /* the sleep is not to be measured */
    bool still = nap(p, t, e, &load, between(wait, PACE_STEP_NS, PACE_NAP_NS));
    (void)__atomic_fetch_add(&u->throttle_ns, (uint64_t)between(now(p) - at, 0, PACE_S), __ATOMIC_RELAXED);
    if (!still) return;
  }
}
