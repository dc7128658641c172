/* What happens to a launch that the fast path did not let pass. */
#include "fast.h"

enum { FREE_PASSES = 256, PARTITIONED_PASSES = 32 };

static void grant(struct pace_entry *e, int32_t launches) {
  e->granted = launches;
  __atomic_store_n(&e->left, launches, __ATOMIC_RELAXED);
}

/* Counts this launch, and lets those pass that need no look. */
static void proceed(struct pace *p, struct pace_entry *e) {
  struct pace_slice *s = e->open;
  s->launches++;
  int32_t left = s->launches < s->planned ? (int32_t)(s->planned - s->launches) : 0;
  /* a default stream is another one when the thread changes its context: then nothing passes unseen */
  bool look = e->watched || (e->key <= PACE_PER_THREAD && atomic_load_explicit(&p->contexts_used, memory_order_relaxed) > 1);
  grant(e, left > 1 && look ? 1 : left);
  if (e->watched) e->launched_ns = p->world->now_ns(p->world->self);
}

/* Whether the launch still belongs to the slice that is open. Else that is closed. */
static bool belongs(struct pace *p, struct pace_thread *t, struct pace_entry *e, const void *what) {
  struct pace_slice *s = e->open;
  if (s == NULL) return false;
  if (e->watched && e->launched_ns != 0 && p->world->now_ns(p->world->self) - e->launched_ns > PACE_GAP_NS) {
    s->sparse = true;
  } else if (s->what == what && s->launches < s->planned) {
    return true;
  }
  pace_close(p, t, e);
  return false;
}

static struct pace_entry *before(struct pace *p, struct pace_thread *t, pace_handle stream, uint8_t device, const void *what) {
  const struct pace_world *w = p->world;
  struct pace_context *c = pace_context_of(p, w->context(w->self));
  if (c == NULL || c->lost) return NULL;
  struct pace_entry *e = pace_entry_of(p, t, stream, c, device);
  pace_collect(e);
  if (!belongs(p, t, e, what)) {
    struct pace_terms terms;
    struct pace_load load;
    if (!pace_terms(p, device, &terms, &load)) return NULL;
    if (terms.unlimited) {
      grant(e, terms.partitioned ? PARTITIONED_PASSES : FREE_PASSES);
      return NULL;
    }
    pace_sweep(p, w->now_ns(w->self));
    int64_t room;
    pace_admit(p, t, e, what, &room);
    if (e->key != stream || c->lost) return NULL;
    e->launched_ns = 0;
    if (!pace_open(p, t, e, what, room, terms.runahead_ns)) {
      (void)__atomic_fetch_add(&p->flight.usage->devices[device].internal_errors, 1, __ATOMIC_RELAXED);
      return NULL;
    }
  }
  proceed(p, e);
  return e;
}

struct pace_entry *pace_before(struct pace *p, struct pace_thread *t, pace_handle stream, uint8_t device, const void *graph) {
  const struct pace_world *w = p->world;
  bool recording = w->any_capture(w->self);
  if (recording && w->capturing(w->self, stream)) return NULL;
  if (!lock_take(&t->lock)) return NULL;
  int mode = recording ? w->relax(w->self) : 0;
  struct pace_entry *e = before(p, t, stream, device, graph);
  if (recording) w->restore(w->self, mode);
  lock_give(&t->lock);
  return e;
}

void pace_after(struct pace *p, struct pace_thread *t, struct pace_entry *e) {
  const struct pace_world *w = p->world;
  if (e == NULL || e->left != 0 || !lock_take(&t->lock)) return;
  bool recording = w->any_capture(w->self);
  int mode = recording ? w->relax(w->self) : 0;
  if (e->open != NULL && e->open->launches >= e->open->planned) pace_close(p, t, e);
  if (recording) w->restore(w->self, mode);
  lock_give(&t->lock);
}

void pace_pause(struct pace *p, struct pace_thread *t) {
  const struct pace_world *w = p->world;
  if (t->unfinished == 0 || !lock_take(&t->lock)) return;
  bool recording = w->any_capture(w->self);
  int mode = recording ? w->relax(w->self) : 0;
  pace_close_all(p, t);
  if (recording) w->restore(w->self, mode);
  lock_give(&t->lock);
}

void pace_stream_gone(struct pace *p, pace_handle stream) {
  if (stream == 0) return;
  unsigned int threads = atomic_load(&p->threads);
  for (unsigned int i = 0; i < threads && i < PACE_THREADS; i++) {
    struct pace_thread *t = &p->thread[i];
    struct pace_entry *e = &t->entries[pace_slot_of(stream)];
    if (__atomic_load_n(&e->key, __ATOMIC_RELAXED) != stream || !lock_take(&t->lock)) continue;
    if (e->key == stream) pace_entry_drop(p, t, e);
    lock_give(&t->lock);
  }
}
