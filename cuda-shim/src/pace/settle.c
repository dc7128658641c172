/* What finished slices have taken, and who pays it. */
#include "core.h"

static void forget(struct pace *p, struct pace_thread *t, struct pace_slice *s) {
  if (s->entry != PACE_NOBODY) {
    struct pace_entry *e = &t->entries[s->entry];
    if (e->unfinished > 0) e->unfinished--;
    if (e->open == s) {
      e->open = NULL;
      e->granted = 0;
      __atomic_store_n(&e->left, 0, __ATOMIC_RELAXED);
    }
  }
  s->context = NULL;
  t->unfinished--;
  atomic_fetch_sub_explicit(&p->unfinished, 1, memory_order_relaxed);
  inflight_add(&p->flight, s->device, -s->predicted_ns);
}

/* The slice that begins where this one ended learns when that was; 0: nobody knows, so it is taken from its opening. */
static void pass_on(struct pace_thread *t, const struct pace_slice *s, int64_t end_ns) {
  for (int i = 0; i < PACE_SLICES; i++) {
    struct pace_slice *next = &t->slices[i];
    if (next->context == NULL || next->after != s->number) continue;
    next->after = 0;
    next->begun_ns = end_ns != 0 ? end_ns : next->opened_ns;
    if (end_ns == 0) next->sparse = true;
  }
}

/*
 * The stretch is posted after it is paid, and never before the end of the last one posted: the ledger believes neither what
 * was not paid for nor a process that is twice at once on the card.
 */
static void post(struct pace *p, uint8_t device, int64_t from_ns, int64_t to_ns) {
  struct pace_device *d = &p->devices[device];
  if (!lock_take(&d->lock)) return;
  if (from_ns < d->posted_ns) from_ns = d->posted_ns;
  if (from_ns < to_ns) {
    interval_post(&p->flight, device, from_ns, to_ns);
    d->posted_ns = to_ns;
  }
  lock_give(&d->lock);
}

static void pay(struct pace *p, uint8_t device, int64_t from_ns, int64_t to_ns, uint32_t launches) {
  struct pace_terms terms;
  struct pace_load load;
  struct vgpu_usage_device *u = &p->flight.usage->devices[device];
  (void)__atomic_fetch_add(&u->launches, launches, __ATOMIC_RELAXED);
  if (!pace_terms(p, device, &terms, &load)) return;
  struct pace_device *d = &p->devices[device];
  int64_t cost = to_ns - from_ns;
  if (lock_take(&d->lock)) {
    cost = cover_add(&d->cover, from_ns, to_ns);
    lock_give(&d->lock);
  }
  bucket_charge(u, cost, &terms);
  post(p, device, from_ns, to_ns);
}

void pace_abandon(struct pace *p, struct pace_thread *t, struct pace_slice *s, bool destroy) {
  struct pace_terms terms;
  struct pace_load load;
  if (pace_terms(p, s->device, &terms, &load)) bucket_charge(&p->flight.usage->devices[s->device], s->predicted_ns, &terms);
  pace_handle events[2] = {s->start, s->end};
  for (int i = 0; i < 2; i++) {
    if (events[i] == 0) continue;
    if (destroy || s->context->lost) {
      p->world->event_destroy(p->world->self, events[i]);
    } else {
      pace_event_give(p, s->context, events[i]);
    }
  }
  pass_on(t, s, 0);
  forget(p, t, s);
  pace_publish_oldest(p, t);
}

/* False: not finished, or what it begins with is not. */
static bool settle_one(struct pace *p, struct pace_thread *t, struct pace_slice *s) {
  const struct pace_world *w = p->world;
  if (s->end == 0 || (s->start == 0 && s->begun_ns == 0)) return false;
  int64_t end = 0, elapsed = 0;
  enum pace_reach reach = s->context->lost ? PACE_LOST : w->event_query(w->self, s->end);
  if (reach == PACE_REACHED) reach = pace_when(p, s->context, s->end, s->closed_ns, &end);
  if (reach == PACE_REACHED && s->start != 0) reach = w->event_elapsed(w->self, s->start, s->end, &elapsed);
  if (reach == PACE_AHEAD) return false;
  if (reach == PACE_LOST) {
    s->context->lost = true; /* an error that sticks: whatever is launched there fails */
    pace_abandon(p, t, s, false);
    return true;
  }
  if (s->start == 0) elapsed = end - s->begun_ns;
  if (elapsed < 0) elapsed = 0;
  int64_t cost = elapsed;
  if (s->sparse && s->predicted_ns > 0 && cost > s->predicted_ns) cost = s->predicted_ns;
  pay(p, s->device, end - cost, end, s->launches);
  struct pace_load load = pace_load_read(p->shared->load, s->device);
  turn_ended(&p->devices[s->device].turn, &load, s->opened_ns, end);
  if (s->entry != PACE_NOBODY) pace_learn(&t->entries[s->entry], s, cost, load.known && load.others_active != 0);
  pass_on(t, s, end);
  if (!pace_rebase(p, s->context, s->end, end)) pace_event_give(p, s->context, s->end);
  pace_event_give(p, s->context, s->start);
  forget(p, t, s);
  return true;
}

void pace_settle(struct pace *p, struct pace_thread *t) {
  if (t->unfinished == 0) return;
  bool any = false, more = true;
  while (more) { /* one slice may be what another waits for; each round that goes on takes one away */
    more = false;
    for (int i = 0; i < PACE_SLICES; i++) {
      if (t->slices[i].context != NULL && settle_one(p, t, &t->slices[i])) more = true;
    }
    any |= more;
  }
  if (any) pace_publish_oldest(p, t);
}
