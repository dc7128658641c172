/* The card. */
#include "sim.h"

#include <stddef.h>

#define SWITCH_NS (182 * US)
#define TURN_NS (2070 * US)

uint64_t sim_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static struct sim_op *head(struct sim_stream *s) { return s->pushed == s->done ? NULL : &s->op[s->done % SIM_QUEUE]; }

static bool has_work(struct sim_gpu *g, int p) {
  for (int i = 0; i < SIM_STREAMS; i++) {
    if (g->process[p].stream[i].pushed != g->process[p].stream[i].done) return true;
  }
  return false;
}

/* Events in front are reached at once by a process that has the card. */
static void pop_events(struct sim_gpu *g) {
  for (int i = 0; i < SIM_STREAMS; i++) {
    struct sim_stream *s = &g->process[g->current].stream[i];
    for (struct sim_op *op = head(s); op != NULL && op->left_ns <= 0; op = head(s)) {
      if (op->done_at != NULL) *op->done_at = g->now;
      s->done++;
    }
  }
}

/* How fast the heads of the current process run: all at once as long as the multiprocessors last. */
static double rate(struct sim_gpu *g) {
  int wanted = 0;
  for (int i = 0; i < SIM_STREAMS; i++) {
    struct sim_op *op = head(&g->process[g->current].stream[i]);
    if (op != NULL) wanted += op->sms;
  }
  return wanted <= g->sms ? 1 : (double)g->sms / wanted;
}

static int64_t first_end(struct sim_gpu *g) {
  int64_t first = INT64_MAX;
  double r = rate(g);
  for (int i = 0; i < SIM_STREAMS; i++) {
    struct sim_op *op = head(&g->process[g->current].stream[i]);
    if (op == NULL) continue;
    int64_t end = g->now + (int64_t)((double)op->left_ns / r + 0.999);
    if (end < first) first = end;
  }
  return first;
}

static bool others_wait(struct sim_gpu *g) {
  for (int p = 0; p < g->processes; p++) {
    if (p != g->current && has_work(g, p)) return true;
  }
  return false;
}

/* The next process with work, the current one last. */
static void choose(struct sim_gpu *g) {
  if (g->current >= 0 && has_work(g, g->current) && (g->now < g->slice_end || !others_wait(g))) return;
  int from = g->last < 0 ? 0 : g->last + 1, next = -1;
  for (int i = 0; i < g->processes && next < 0; i++) {
    int p = (from + i) % g->processes;
    if (has_work(g, p)) next = p;
  }
  g->current = next;
  if (next < 0) return;
  g->switched_at = g->last >= 0 && g->last != next ? g->now + SWITCH_NS : g->now;
  g->slice_end = g->switched_at + TURN_NS + (int64_t)(sim_random(g->random) % (uint64_t)(40 * US));
  g->last = next;
}

int64_t gpu_next(struct sim_gpu *g) {
  choose(g);
  if (g->current < 0) return INT64_MAX;
  if (g->now < g->switched_at) return g->switched_at;
  pop_events(g);
  if (!has_work(g, g->current)) return g->now; /* somebody else may be next, at once */
  int64_t next = first_end(g);
  if (others_wait(g) && g->slice_end < next) next = g->slice_end > g->now ? g->slice_end : g->now + 1;
  return next;
}

static void work(struct sim_gpu *g, int64_t to) {
  struct sim_gpu_process *p = &g->process[g->current];
  double r = rate(g);
  bool any = false;
  for (int i = 0; i < SIM_STREAMS; i++) {
    struct sim_op *op = head(&p->stream[i]);
    if (op == NULL) continue;
    any = true;
    op->left_ns -= (int64_t)((double)(to - g->now) * r + 0.5);
    if (op->left_ns < 0) op->left_ns = 0;
  }
  if (any) p->busy_ns += to - g->now;
}

void gpu_run_to(struct sim_gpu *g, int64_t to) {
  while (g->now < to) {
    int64_t next = gpu_next(g);
    if (next == g->now) continue;
    int64_t until = next < to ? next : to;
    if (g->current >= 0 && g->now >= g->switched_at) work(g, until);
    g->now = until;
    if (g->current >= 0 && g->now >= g->switched_at) pop_events(g);
  }
}

void gpu_push(struct sim_gpu *g, int process, int stream, struct sim_op op) {
  struct sim_stream *s = &g->process[process].stream[stream];
  s->op[s->pushed++ % SIM_QUEUE] = op;
}
