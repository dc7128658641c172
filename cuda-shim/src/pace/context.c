/* Contexts: their events, and when these happened on the host's clock. */
#include "core.h"

/* A float of milliseconds has half a microsecond left after four seconds: the base is renewed before that. */
#define BASE_AGE_NS (2 * PACE_S)

struct pace_context *pace_context_of(struct pace *p, pace_handle handle) {
  if (handle == 0) return NULL;
  for (int i = 0; i < PACE_CONTEXTS; i++) {
    if (__atomic_load_n(&p->contexts[i].handle, __ATOMIC_ACQUIRE) == handle) return &p->contexts[i];
  }
  struct pace_context *found = NULL;
  if (!lock_take(&p->contexts_lock)) return NULL;
  for (int i = 0; i < PACE_CONTEXTS && found == NULL; i++) {
    if (p->contexts[i].handle == handle) found = &p->contexts[i];
  }
  for (int i = 0; i < PACE_CONTEXTS && found == NULL; i++) {
    struct pace_context *c = &p->contexts[i];
    if (c->handle != 0) continue;
    c->lost = false;
    c->base = 0;
    c->events = 0;
    __atomic_store_n(&c->handle, handle, __ATOMIC_RELEASE);
    atomic_fetch_add_explicit(&p->contexts_used, 1, memory_order_relaxed);
    found = c;
  }
  lock_give(&p->contexts_lock);
  return found;
}

pace_handle pace_event_take(struct pace *p, struct pace_context *c) {
  pace_handle event = 0;
  if (lock_take(&c->lock)) {
    if (c->events > 0) event = c->event[--c->events];
    lock_give(&c->lock);
  }
  return event != 0 ? event : p->world->event_create(p->world->self);
}

void pace_event_give(struct pace *p, struct pace_context *c, pace_handle event) {
  if (event == 0) return;
  if (lock_take(&c->lock)) {
    if (c->events < PACE_EVENTS) {
      c->event[c->events++] = event;
      event = 0;
    }
    lock_give(&c->lock);
  }
  if (event != 0) p->world->event_destroy(p->world->self, event);
}

/*
 * Where the base lies on the host's clock is known by what it implies: no event happens before the host has recorded it, and
 * none after the host has seen it. Each such bound that is crossed moves the base.
 */
enum pace_reach pace_when(struct pace *p, struct pace_context *c, pace_handle event, int64_t not_before_ns, int64_t *ns) {
  if (!lock_take(&c->lock)) return PACE_AHEAD;
  int64_t now = p->world->now_ns(p->world->self), since = 0;
  enum pace_reach reach = PACE_REACHED;
  if (c->base == 0) {
    *ns = now; /* the context's first: it becomes the base at once */
    lock_give(&c->lock);
    return reach;
  }
  reach = c->base == event ? PACE_REACHED : p->world->event_elapsed(p->world->self, c->base, event, &since);
  if (reach == PACE_REACHED) {
    int64_t at = c->base_ns + since;
    if (at < not_before_ns) c->base_ns += not_before_ns - at;
    if (at > now) c->base_ns -= at - now;
    *ns = c->base_ns + since;
  }
  lock_give(&c->lock);
  return reach;
}

bool pace_rebase(struct pace *p, struct pace_context *c, pace_handle event, int64_t ns) {
  pace_handle old = 0;
  if (!lock_take(&c->lock)) return false;
  bool taken = c->base == 0 || (event != c->base && ns - c->base_ns > BASE_AGE_NS);
  if (taken) {
    old = c->base;
    c->base = event;
    c->base_ns = ns;
  }
  lock_give(&c->lock);
  pace_event_give(p, c, old);
  return taken;
}

static void drop_from(struct pace *p, struct pace_thread *t, const struct pace_context *c) {
  if (!lock_take(&t->lock)) return;
  for (int i = 0; i < PACE_SLICES; i++) {
    if (t->slices[i].context == c) pace_abandon(p, t, &t->slices[i], true);
  }
  for (int i = 0; i < PACE_ENTRIES; i++) {
    if (t->entries[i].key != 0 && t->entries[i].context == c) pace_entry_drop(p, t, &t->entries[i]);
  }
  lock_give(&t->lock);
}

void pace_context_gone(struct pace *p, pace_handle handle) {
  struct pace_context *c = NULL;
  for (int i = 0; i < PACE_CONTEXTS && c == NULL; i++) {
    if (handle != 0 && __atomic_load_n(&p->contexts[i].handle, __ATOMIC_ACQUIRE) == handle) c = &p->contexts[i];
  }
  if (c == NULL) return;
  c->lost = true; /* nothing new is opened in it */
  unsigned int threads = atomic_load(&p->threads);
  for (unsigned int i = 0; i < threads && i < PACE_THREADS; i++) drop_from(p, &p->thread[i], c);
  if (!lock_take(&c->lock)) return;
  for (uint32_t i = 0; i < c->events; i++) p->world->event_destroy(p->world->self, c->event[i]);
  if (c->base != 0) p->world->event_destroy(p->world->self, c->base);
  c->events = 0;
  c->base = 0;
  lock_give(&c->lock);
  atomic_fetch_sub_explicit(&p->contexts_used, 1, memory_order_relaxed);
  __atomic_store_n(&c->handle, 0, __ATOMIC_RELEASE);
}
