/* Slices of one thread: where they begin, where they end, and what they teach. */
#include "fast.h"

static int64_t now(const struct pace *p) { return p->world->now_ns(p->world->self); }

void pace_collect(struct pace_entry *e) {
  int32_t left = __atomic_load_n(&e->left, __ATOMIC_RELAXED);
  if (e->open != NULL && e->granted > left) e->open->launches += (uint32_t)(e->granted - left);
  e->granted = 0;
  __atomic_store_n(&e->left, 0, __ATOMIC_RELAXED);
}

void pace_entry_drop(struct pace *p, struct pace_thread *t, struct pace_entry *e) {
  if (e->open != NULL) pace_close(p, t, e);
  uint8_t index = (uint8_t)(e - t->entries);
  for (int i = 0; i < PACE_SLICES; i++) {
    if (t->slices[i].context != NULL && t->slices[i].entry == index) t->slices[i].entry = PACE_NOBODY;
  }
  __atomic_store_n(&e->key, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&e->left, 0, __ATOMIC_RELAXED);
  e->granted = 0;
  e->context = NULL;
  e->open = NULL;
  e->mean_ns = e->graph_mean_ns = e->launched_ns = 0;
  e->graph = NULL;
  e->last = 0;
  e->count = 0;
  e->unfinished = 0;
  e->watched = e->probe = false;
}

struct pace_entry *pace_entry_of(struct pace *p, struct pace_thread *t, pace_handle key, struct pace_context *c,
                                 uint8_t device) {
  struct pace_entry *e = &t->entries[pace_slot_of(key)];
  if (e->key == key && e->context == c && e->device == device) return e;
  if (e->key != 0) pace_entry_drop(p, t, e);
  e->context = c;
  e->device = device;
  __atomic_store_n(&e->key, key, __ATOMIC_RELAXED);
  return e;
}

struct pace_slice *pace_oldest(struct pace_thread *t, const struct pace_entry *e) {
  struct pace_slice *oldest = NULL;
  uint8_t index = (uint8_t)(e - t->entries);
  for (int i = 0; i < PACE_SLICES; i++) {
    struct pace_slice *s = &t->slices[i];
    if (s->context != NULL && s->entry == index && (oldest == NULL || s->number < oldest->number)) oldest = s;
  }
  return oldest;
}

int64_t pace_mean(const struct pace_entry *e, const void *what) {
  return what == NULL ? e->mean_ns : e->graph == what ? e->graph_mean_ns : 0;
}

static uint32_t plan(const struct pace_entry *e, int64_t mean_ns, int64_t room_ns, int64_t runahead_ns) {
  if (mean_ns <= 0 || e->probe) return 1;
  int64_t n = runahead_ns / mean_ns, most = e->count == 0 ? 2 : 2 * (int64_t)e->count;
  if (most > PACE_MOST_LAUNCHES) most = PACE_MOST_LAUNCHES;
  if (n > most) n = most;
  if (n * mean_ns > room_ns) n = room_ns / mean_ns; /* what is left of the turn */
  return n < 1 ? 1 : (uint32_t)n;
}

static struct pace_slice *unused(struct pace_thread *t) {
  for (int i = 0; i < PACE_SLICES; i++) {
    if (t->slices[i].context == NULL) return &t->slices[i];
  }
  return NULL;
}

bool pace_open(struct pace *p, struct pace_thread *t, struct pace_entry *e, const void *what, int64_t room_ns,
               int64_t runahead_ns) {
  const struct pace_world *w = p->world;
  struct pace_slice *s = unused(t);
  if (s == NULL) return false;
  pace_handle start = 0;
  if (e->unfinished == 0) {
    start = pace_event_take(p, e->context);
    if (start == 0) return false;
    if (!w->event_record(w->self, start, e->key)) {
      pace_event_give(p, e->context, start);
      return false;
    }
  }
  int64_t mean = pace_mean(e, what);
  uint32_t planned = plan(e, mean, room_ns, runahead_ns);
  s->context = e->context;
  s->start = start;
  s->end = 0;
  s->number = ++t->numbers;
  s->after = start == 0 ? e->last : 0;
  s->what = what;
  s->opened_ns = now(p);
  s->closed_ns = s->begun_ns = 0;
  s->predicted_ns = mean * planned;
  s->launches = 0;
  s->planned = planned;
  s->entry = (uint8_t)(e - t->entries);
  s->device = e->device;
  s->sparse = false;
  e->open = s;
  e->last = s->number;
  e->unfinished++;
  if (what == NULL) e->count = planned;
  t->unfinished++;
  atomic_fetch_add_explicit(&p->unfinished, 1, memory_order_relaxed);
  inflight_add(&p->flight, s->device, s->predicted_ns);
  pace_publish_oldest(p, t);
  return true;
}

/* The thread's default streams mean those of the context that is current; an event of another one does not fit there. */
static bool can_mark(const struct pace *p, const struct pace_entry *e) {
  const struct pace_world *w = p->world;
  if (e->context->lost) return false;
  if (e->key > PACE_PER_THREAD) return true;
  if (w->context(w->self) != e->context->handle) return false;
  return e->key != PACE_LEGACY || !w->any_capture(w->self); /* would take part in the capture, and spoil it */
}

void pace_close(struct pace *p, struct pace_thread *t, struct pace_entry *e) {
  const struct pace_world *w = p->world;
  struct pace_slice *s = e->open;
  if (s == NULL) return;
  pace_collect(e);
  e->open = NULL;
  bool can = can_mark(p, e);
  s->end = can ? pace_event_take(p, s->context) : 0;
  s->closed_ns = now(p);
  if (s->end == 0 || !w->event_record(w->self, s->end, e->key)) {
    pace_abandon(p, t, s, false);
    return;
  }
  /* a pause of the host may be in it, or was seen: what the events will say is no measure of its launches */
  bool slow = s->closed_ns - s->opened_ns > PACE_GAP_NS + (int64_t)s->launches * 10000;
  if ((slow && !e->watched) || w->any_capture(w->self)) s->sparse = true;
  e->watched = slow;
  e->probe = s->sparse;
  if (s->launches < s->planned) {
    int64_t less = s->predicted_ns - pace_mean(e, s->what) * s->launches;
    if (less > 0 && less <= s->predicted_ns) {
      s->predicted_ns -= less;
      inflight_add(&p->flight, s->device, -less);
    }
  }
}

void pace_close_all(struct pace *p, struct pace_thread *t) {
  for (int i = 0; i < PACE_ENTRIES; i++) {
    if (t->entries[i].key != 0 && t->entries[i].open != NULL) pace_close(p, t, &t->entries[i]);
  }
}

/* Beside others a slice can have their turns in it, which would make every later one look too long: up slowly, down at once. */
static int64_t nearer(int64_t mean, int64_t each, bool beside_others) {
  return mean + (each - mean) / (beside_others && each > mean ? 16 : 4);
}

void pace_learn(struct pace_entry *e, const struct pace_slice *s, int64_t elapsed_ns, bool beside_others) {
  if (s->sparse || s->launches == 0) return;
  int64_t each = elapsed_ns / s->launches;
  if (each < 1) each = 1;
  if (s->what == NULL) {
    e->mean_ns = e->mean_ns == 0 ? each : nearer(e->mean_ns, each, beside_others);
  } else if (e->graph == s->what) {
    e->graph_mean_ns = nearer(e->graph_mean_ns, each, beside_others);
  } else {
    e->graph = s->what;
    e->graph_mean_ns = each;
  }
}
