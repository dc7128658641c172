/* Threads: who has a block, and what becomes of it when the thread is gone. Nobody tells us that one ends. */
#include "core.h"

#define SWEEP_NS (100 * PACE_MS)

void pace_init(struct pace *p, const struct pace_world *world, const struct vgpu_shared *shared, uint32_t slot,
               struct pace_thread *threads) {
  p->world = world;
  p->shared = shared;
  p->flight.usage = shared->usage;
  p->flight.slot = slot;
  p->thread = threads;
}

/* The block keeps its numbers: slices that are asked for by number do not come twice. */
static void clear(struct pace *p, struct pace_thread *t) {
  for (int i = 0; i < PACE_ENTRIES; i++) {
    t->entries[i].open = NULL;
    pace_entry_drop(p, t, &t->entries[i]);
  }
}

/* What a dead thread left open was never marked, so it is paid by estimate; what it closed is settled as usual. */
static void bury(struct pace *p, struct pace_thread *t) {
  if (!lock_take(&t->lock)) return;
  for (int i = 0; i < PACE_SLICES; i++) {
    if (t->slices[i].context != NULL && t->slices[i].end == 0) pace_abandon(p, t, &t->slices[i], false);
  }
  pace_settle(p, t);
  if (t->unfinished == 0) {
    clear(p, t);
    atomic_store(&t->oldest_ns, 0);
    atomic_store(&t->id, 0);
  }
  lock_give(&t->lock);
}

static bool claim(struct pace *p, struct pace_thread *t, int id) {
  int owner = atomic_load(&t->id);
  if (owner == id) return true; /* an earlier thread of the same number, which is gone */
  if (owner != 0 && !p->world->thread_lives(p->world->self, owner)) {
    bury(p, t);
    owner = atomic_load(&t->id);
  }
  return owner == 0 && atomic_compare_exchange_strong(&t->id, &owner, id);
}

struct pace_thread *pace_thread_claim(struct pace *p) {
  int id = p->world->thread_id(p->world->self);
  unsigned int used = atomic_load(&p->threads);
  for (unsigned int i = 0; i < used && i < PACE_THREADS; i++) {
    if (atomic_load(&p->thread[i].id) != id) continue;
    bury(p, &p->thread[i]);
    if (claim(p, &p->thread[i], id)) return &p->thread[i];
  }
  for (unsigned int i = 0; i < PACE_THREADS; i++) {
    if (!claim(p, &p->thread[i], id)) continue;
    unsigned int known = atomic_load(&p->threads);
    while (known < i + 1 && !atomic_compare_exchange_weak(&p->threads, &known, i + 1)) continue;
    return &p->thread[i];
  }
  return NULL;
}

void pace_sweep(struct pace *p, int64_t now_ns) {
  int64_t last = atomic_load_explicit(&p->swept_ns, memory_order_relaxed);
  if (now_ns - last < SWEEP_NS || !atomic_compare_exchange_strong(&p->swept_ns, &last, now_ns)) return;
  unsigned int threads = atomic_load(&p->threads);
  for (unsigned int i = 0; i < threads && i < PACE_THREADS; i++) {
    int id = atomic_load(&p->thread[i].id);
    if (id != 0 && !p->world->thread_lives(p->world->self, id)) bury(p, &p->thread[i]);
  }
}

void pace_publish_oldest(struct pace *p, struct pace_thread *t) {
  int64_t mine = 0;
  for (int i = 0; i < PACE_SLICES && t->unfinished > 0; i++) {
    const struct pace_slice *s = &t->slices[i];
    if (s->context == NULL) continue;
    int64_t since = s->begun_ns != 0 ? s->begun_ns : s->opened_ns;
    if (mine == 0 || since < mine) mine = since;
  }
  atomic_store_explicit(&t->oldest_ns, mine, memory_order_relaxed);
  int64_t oldest = mine;
  unsigned int threads = atomic_load_explicit(&p->threads, memory_order_relaxed);
  for (unsigned int i = 0; i < threads && i < PACE_THREADS; i++) {
    int64_t other = atomic_load_explicit(&p->thread[i].oldest_ns, memory_order_relaxed);
    if (other != 0 && (oldest == 0 || other < oldest)) oldest = other;
  }
  interval_open_since(&p->flight, oldest);
}
