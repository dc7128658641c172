/*
 * The virtual GPU clock. A card runs one process at a time, in slices of slice_ns, round robin among those with work; a
 * process runs its operations in the order in which it queued them. Nothing runs in the background: the operations carry
 * the time at which they were queued, so whoever asks first works out, exactly, what the card did since the last asker.
 *
 * Every step leaves the file right but for the step itself, so a process that is killed in here costs one slice at most.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "gpu_lock.h"
#include "gpu_own.h"

enum { DEAD_LOOK_NS = 2000000, SPIN_NS = 80000, NAP_NS = 10000000 };

struct card {
  struct gpu *g;
  struct gpu_device *device;
  struct gpu_queue *queues;
  uint32_t number;
  uint64_t t, now;
};

static struct gpu_op *head(struct gpu_queue *q) { return &q->ops[q->done % GPU_RING]; }

static bool has_work(const struct gpu_queue *q) { return q->owner != 0 && q->done != atomic_load(&q->pushed); }

static bool ready(struct gpu_queue *q, uint64_t t) { return has_work(q) && (q->begun || head(q)->arrival_ns <= t); }

static void drop_queue(struct gpu_queue *queue) {
  queue->begun = false;
  queue->left_ns = 0;
  atomic_store(&queue->done, queue->pushed);
  atomic_store(&queue->owner, 0);
}

/* Work of the dead ends with them. Asking costs a system call each, so not at every step. */
static void drop_dead(struct card *c) {
  if (c->now - c->device->looked_for_dead_ns < DEAD_LOOK_NS) return;
  c->device->looked_for_dead_ns = c->now;
  for (uint32_t i = 0; i < c->device->queue_high; i++) {
    struct gpu_queue *q = &c->queues[i];
    uint32_t owner = q->owner;
    if (owner == 0 || owner == c->g->tag) continue;
    uint32_t slot = (owner & 0xFFFFu) - 1;
    bool other_owner = c->g->state->processes[slot].generation != owner >> 16;
    if (other_owner || !gpu_alive(c->g, slot, NULL)) drop_queue(q);
  }
}

/* The next queue after `from` that could run at t, `from` itself last; GPU_QUEUES if none. */
static uint32_t next_ready(struct card *c, uint32_t from) {
  uint32_t n = c->device->queue_high;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t at = from >= GPU_QUEUES ? i - 1 : (from + i) % n;
    if (ready(&c->queues[at], c->t)) return at;
  }
  return GPU_QUEUES;
}

static uint64_t next_arrival(struct card *c) {
  uint64_t first = UINT64_MAX;
  for (uint32_t i = 0; i < c->device->queue_high; i++) {
    struct gpu_queue *q = &c->queues[i];
    if (has_work(q) && head(q)->arrival_ns < first) first = head(q)->arrival_ns;
  }
  return first;
}

static void note_busy(struct card *c, uint64_t ns) {
  uint64_t number = c->t / GPU_BUCKET_NS;
  struct gpu_bucket *b = &c->device->buckets[number % GPU_BUCKETS];
  if (b->number != number) {
    b->busy_ns = 0;
    b->number = number;
  }
  b->busy_ns += ns;
  c->device->busy_ns += ns;
}

/* Gives the card to a queue; false when nobody wants it before now. */
static bool choose(struct card *c) {
  struct gpu_device *d = c->device;
  bool goes_on = d->current < GPU_QUEUES && d->slice_left_ns > 0 && ready(&c->queues[d->current], c->t);
  if (goes_on) return true;
  uint32_t next = next_ready(c, d->current);
  if (next == GPU_QUEUES) {
    uint64_t arrival = next_arrival(c);
    d->slice_left_ns = 0; /* who comes back to an idle card gets a whole slice, as on a real one */
    c->t = arrival < c->now ? arrival : c->now;
    return false;
  }
  d->current = next;
  d->slice_left_ns = c->g->state->slice_ns;
  if (d->last_ran != next && d->last_ran != GPU_QUEUES) {
    c->t += c->g->state->switch_ns; /* may reach beyond now; the next asker then finds nothing to do yet */
    d->switch_ns += c->g->state->switch_ns;
  }
  d->last_ran = next;
  return c->t < c->now;
}

static void run(struct card *c) {
  struct gpu_device *d = c->device;
  struct gpu_queue *q = &c->queues[d->current];
  struct gpu_op *op = head(q);
  struct gpu_share *share = &c->g->state->processes[(q->owner & 0xFFFFu) - 1].on[c->number];
  if (!q->begun) {
    q->left_ns = op->work_ns;
    op->start_ns = c->t;
    q->begun = true;
  }
  uint64_t step = q->left_ns;
  if (step > d->slice_left_ns) step = d->slice_left_ns;
  if (step > c->now - c->t) step = c->now - c->t;
  q->left_ns -= step;
  d->slice_left_ns -= step;
  share->busy_ns += step;
  note_busy(c, step);
  c->t += step;
  atomic_store(&d->now_ns, c->t);
  if (q->left_ns > 0) return;
  op->end_ns = c->t;
  share->kernels += op->kernels;
  q->begun = false;
  atomic_store(&q->done, q->done + 1);
}

static void advance(struct gpu *g, uint32_t number) {
  struct gpu_device *device = &g->state->devices[number];
  struct card c = {.g = g, .device = device, .queues = g->state->queues[number], .number = number, .t = device->now_ns};
  c.now = gpu_clock_ns();
  drop_dead(&c);
  while (c.t < c.now) {
    if (choose(&c)) run(&c);
  }
  atomic_store(&device->now_ns, c.t);
}

void gpu_advance(struct gpu *g, uint32_t device) {
  (void)gpu_lock(g, &g->state->devices[device].schedule_lock);
  advance(g, device);
  gpu_unlock(&g->state->devices[device].schedule_lock);
}

void gpu_drop_slot(struct gpu *g, uint32_t device, uint32_t slot) {
  struct gpu_device *d = &g->state->devices[device];
  (void)gpu_lock(g, &d->schedule_lock);
  for (uint32_t i = 0; i < d->queue_high; i++) {
    struct gpu_queue *q = &g->state->queues[device][i];
    if (q->owner != 0 && (q->owner & 0xFFFFu) - 1 == slot) drop_queue(q);
  }
  gpu_unlock(&d->schedule_lock);
}

struct gpu_queue *gpu_claim_queue(struct gpu *g, uint32_t device) {
  struct gpu_device *d = &g->state->devices[device];
  struct gpu_queue *found = NULL;
  (void)gpu_lock(g, &d->schedule_lock);
  d->looked_for_dead_ns = 0;
  advance(g, device);
  for (uint32_t i = 0; i < GPU_QUEUES && found == NULL; i++) {
    struct gpu_queue *q = &g->state->queues[device][i];
    if (q->owner != 0) continue;
    q->begun = false;
    atomic_store(&q->done, q->pushed);
    atomic_store(&q->owner, g->tag);
    if (i >= d->queue_high) d->queue_high = i + 1;
    found = q;
  }
  gpu_unlock(&d->schedule_lock);
  return found;
}

/* ---- waiting ------------------------------------------------------------------------------------------------------- */

/* The soonest that the operation can be done: the card given to us as soon as the running slice ends. Under the lock. */
static uint64_t soonest(struct gpu *g, uint32_t device, const struct gpu_queue *queue, uint64_t number) {
  struct gpu_device *d = &g->state->devices[device];
  uint64_t left = queue->begun ? queue->left_ns : 0, done = queue->done;
  for (uint64_t i = done + (queue->begun ? 1 : 0); i <= number; i++) left += queue->ops[i % GPU_RING].work_ns;
  if (d->current >= GPU_QUEUES) return d->now_ns + left;
  struct gpu_queue *running = &g->state->queues[device][d->current];
  if (running == queue || !has_work(running)) return d->now_ns + left;
  uint64_t theirs = running->begun ? running->left_ns : 0;
  return d->now_ns + left + (theirs < d->slice_left_ns ? theirs : d->slice_left_ns);
}

/* Sleeps most of the way; the last stretch is shorter than what a sleep may oversleep. */
static void sleep_towards(uint64_t when) {
  uint64_t now = gpu_clock_ns();
  if (when <= now + SPIN_NS) {
    (void)sched_yield();
    return;
  }
  uint64_t until = when - SPIN_NS < now + NAP_NS ? when - SPIN_NS : now + NAP_NS;
  struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
  (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void gpu_wait(struct gpu *g, uint32_t device, const struct gpu_queue *queue, uint64_t number) {
  while (atomic_load(&queue->done) <= number) {
    (void)gpu_lock(g, &g->state->devices[device].schedule_lock);
    advance(g, device);
    uint64_t when = queue->done <= number ? soonest(g, device, queue, number) : 0;
    gpu_unlock(&g->state->devices[device].schedule_lock);
    if (when != 0) sleep_towards(when);
  }
}
