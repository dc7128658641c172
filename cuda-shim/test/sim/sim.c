/* The tenants, and the node's loop that refunds. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pace/fast.h"
#include "refund/next_look.h"
#include "refund/refund.h"
#include "refund/turns.h"
#include "regions.h"

#define LAUNCH_NS (5 * US)
#define RECORD_NS (2 * US)
#define QUERY_NS 300
#define NVML_NS (100 * MS)

enum { EVENTS = 4096, WINDOWS = 10 };

struct event {
  int64_t done_at; /* 0: not yet */
  bool used;
};

struct container {
  struct vgpu_limits limits;
  struct vgpu_usage usage;
  struct vgpu_load load;
  struct vgpu_shared shared;
  struct baseline baseline;
  int64_t window_busy[WINDOWS];
  struct sim_tenant tenant;
};

struct process {
  struct pace pace;
  struct pace_world world;
  struct pace_thread *threads;
  int container, index;
};

static struct {
  const struct sim_cell *cell;
  struct sim_gpu gpu;
  struct container *container;
  struct process *process;
  struct event event[EVENTS];
  int next_event, task_process[256], task_stream[256];
  struct refund_card *card;
  struct turn_card turns;
  uint64_t random;
} w;

/* ---- the world of the product's objects */

static int self_process(void) { return w.task_process[task_current()]; }

static int64_t w_now(void *self) {
  (void)self;
  return sim_now();
}
/* As the machine sleeps: late by the timer's slack, and a little more. */
static int64_t oversleep(int64_t ns) { return ns + 50 * US + (int64_t)(sim_random(&w.random) % 20000); }
static void w_sleep(void *self, int64_t ns) {
  (void)self;
  sim_advance(oversleep(ns));
}
static void w_wait(void *self, const uint32_t *word, uint32_t value, int64_t ns) {
  (void)self;
  if (__atomic_load_n(word, __ATOMIC_RELAXED) == value) sim_wait_word(word, oversleep(ns));
}
static pace_handle w_context(void *self) {
  (void)self;
  return 1000 + (pace_handle)self_process();
}
static pace_handle w_create(void *self) {
  (void)self;
  for (int i = 0; i < EVENTS; i++) {
    int k = (w.next_event + i) % EVENTS;
    if (w.event[k].used) continue;
    w.event[k].used = true;
    w.event[k].done_at = 0;
    w.next_event = k + 1;
    return (pace_handle)k + 1;
  }
  return 0;
}
static void w_destroy(void *self, pace_handle e) {
  (void)self;
  w.event[e - 1].used = false;
}
static bool w_record(void *self, pace_handle e, pace_handle stream) {
  (void)self;
  sim_advance(RECORD_NS);
  w.event[e - 1].done_at = 0;
  gpu_push(&w.gpu, self_process(), (int)stream - 100, (struct sim_op){.done_at = &w.event[e - 1].done_at});
  return true;
}
static enum pace_reach w_query(void *self, pace_handle e) {
  (void)self;
  sim_advance(QUERY_NS);
  return w.event[e - 1].done_at != 0 ? PACE_REACHED : PACE_AHEAD;
}
static enum pace_reach w_elapsed(void *self, pace_handle from, pace_handle to, int64_t *ns) {
  (void)self;
  if (w.event[from - 1].done_at == 0 || w.event[to - 1].done_at == 0) return PACE_AHEAD;
  *ns = (w.event[to - 1].done_at - w.event[from - 1].done_at + 250) / 500 * 500; /* the driver's resolution */
  return PACE_REACHED;
}
static bool w_no(void *self) {
  (void)self;
  return false;
}
static bool w_not_capturing(void *self, pace_handle stream) {
  (void)self;
  (void)stream;
  return false;
}
static int w_relax(void *self) {
  (void)self;
  return 0;
}
static void w_restore(void *self, int mode) {
  (void)self;
  (void)mode;
}
static uint32_t w_multiprocessors(void *self, uint8_t device, bool *shared) {
  (void)self;
  (void)device;
  *shared = false;
  return 132;
}
static void w_reap(void *self) { (void)self; }
static int w_thread(void *self) {
  (void)self;
  return task_current() + 1;
}
static bool w_lives(void *self, int id) {
  (void)self;
  (void)id;
  return true;
}
static const struct pace_world world = {w_now,     w_sleep,           w_wait,    w_context, w_create,        w_destroy,
                                        w_record,  w_query,           w_elapsed, w_no,      w_not_capturing, w_relax,
                                        w_restore, w_multiprocessors, w_reap,    w_thread,  w_lives,         NULL};

/* ---- tenants */

static void launch(struct process *p, struct container *c, struct pace_thread *t, int stream, int64_t ns) {
  struct pace_entry *slow = NULL;
  if (w.cell->limiter == SIM_OURS && !pace_pass(t, (pace_handle)(100 + stream)))
    slow = pace_before(&p->pace, t, (pace_handle)(100 + stream), 0, NULL);
  while (w.cell->limiter >= SIM_DELTA && !baseline_take(&c->baseline, 8 * c->tenant.work.sms)) sim_advance(oversleep(10 * MS));
  struct sim_stream *s = &w.gpu.process[p->index].stream[stream];
  while (s->pushed - s->done >= SIM_QUEUE - 8) sim_advance(50 * US); /* the driver's queue is full */
  sim_advance(LAUNCH_NS);
  gpu_push(&w.gpu, p->index, stream, (struct sim_op){.left_ns = ns, .sms = c->tenant.work.sms});
  if (slow != NULL) pace_after(&p->pace, t, slow);
}

static void tenant_body(int task) {
  struct process *p = &w.process[w.task_process[task]];
  struct container *c = &w.container[p->container];
  const struct sim_work *work = &c->tenant.work;
  int stream = w.task_stream[task], kinds = work->kernel_ns[1] == 0 ? 1 : work->kernel_ns[2] == 0 ? 2 : 3;
  struct pace_thread *t = w.cell->limiter == SIM_OURS ? pace_thread_claim(&p->pace) : NULL;
  for (uint64_t n = 1;; n++) {
    launch(p, c, t, stream, work->kernel_ns[kinds == 1 ? 0 : sim_random(&w.random) % (uint64_t)kinds]);
    if (work->batch == 0 || n % (uint64_t)work->batch != 0) continue;
    if (t != NULL) pace_pause(&p->pace, t);
    if (!gpu_stream_idle(&w.gpu.process[p->index].stream[stream])) sim_wait_idle(&w.gpu.process[p->index].stream[stream]);
    if (work->host_ns > 0) sim_advance(work->host_ns);
  }
}

/* ---- the node */

static int64_t busy_of(int container) {
  int64_t sum = 0;
  for (int i = 0; i < w.gpu.processes; i++) {
    if (w.process[i].container == container) sum += w.gpu.process[i].busy_ns;
  }
  return sum;
}

static void tell(int k, const struct refund_container *r, const struct turn *turn) {
  struct vgpu_load_device *d = &w.container[k].load.devices[0];
  d->seq++;
  d->others_active = w.cell->tenants > 1 ? 1 : 0;
  d->sample_ns = (uint64_t)sim_now();
  if (r != NULL) {
    d->refund_ns = r->refund_ns;
    d->others_active = r->others_active;
  }
  d->turn_period_us = turn->period_us;
  d->turn_offset_us = turn->offset_us;
  d->turn_length_us = turn->length_us;
  d->seq++;
  sim_wake(&d->seq);
}

static void look(struct refund_look *l, struct turn_look *t, int k) {
  struct container *c = &w.container[k];
  *l = (struct refund_look){.name = (uint64_t)k + 1,
                            .device_count = 1,
                            .share_permille = (uint32_t)c->tenant.permille,
                            .slot_count = c->usage.header.slot_high_water,
                            .raw_busy_ns = c->usage.devices[0].raw_busy_ns,
                            .bucket_ns = c->usage.devices[0].bucket_ns,
                            .slots = c->usage.slots,
                            .rings = c->usage.rings};
  bool working = false;
  for (uint32_t i = 0; i < l->slot_count; i++) working |= c->usage.slots[i].open_since_ns != 0;
  *t = (struct turn_look){.name = (uint64_t)k + 1,
                          .working = working,
                          .permille = (uint32_t)c->tenant.permille,
                          .bucket_ns = c->usage.devices[0].bucket_ns};
}

static void node_body(int task) {
  (void)task;
  for (int64_t pause = NEXT_LOOK_SOON_NS;; pause = next_look_ns(w.card, &w.turns)) {
    sim_advance(pause);
    struct refund_look looks[SIM_TENANTS];
    struct turn_look turn_looks[SIM_TENANTS];
    struct turn turns[SIM_TENANTS] = {{0, 0, 0}};
    for (int k = 0; k < w.cell->tenants; k++) look(&looks[k], &turn_looks[k], k);
    if (w.cell->refunds) refund_tick(w.card, looks, (uint32_t)w.cell->tenants, sim_now());
    for (int k = 0; k < w.cell->tenants && w.cell->refunds; k++) {
      const struct refund_container *r = refund_find(w.card, (uint64_t)k + 1);
      if (r != NULL) turn_looks[k].longest_ns = r->longest_ns[0] > r->longest_ns[1] ? r->longest_ns[0] : r->longest_ns[1];
    }
    if (w.cell->turns) turn_plan(&w.turns, turn_looks, (uint32_t)w.cell->tenants, sim_now(), turns);
    for (int k = 0; k < w.cell->tenants; k++) tell(k, w.cell->refunds ? refund_find(w.card, (uint64_t)k + 1) : NULL, &turns[k]);
  }
}

/* The figure that NVML tells of each: the last second's, of the whole card as soon as two are active, in whole percent. */
static void nvml_body(int task) {
  (void)task;
  for (uint64_t n = 1;; n++) {
    sim_advance(NVML_NS);
    int64_t all = 0, mine[SIM_TENANTS];
    for (int k = 0; k < w.cell->tenants; k++) {
      int64_t now = busy_of(k), *slot = &w.container[k].window_busy[n % WINDOWS];
      mine[k] = now - *slot;
      *slot = now;
      all += mine[k];
    }
    for (int k = 0; k < w.cell->tenants; k++)
      baseline_tick(&w.container[k].baseline, (int)((w.cell->tenants > 1 ? all : mine[k]) / (10 * MS)));
  }
}

/* ---- a run */

static void make_container(int k) {
  struct container *c = &w.container[k];
  c->tenant = w.cell->tenant[k];
  good_header(&c->limits.header, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, 1);
  good_header(&c->usage.header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 1);
  good_header(&c->load.header, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, 1);
  struct vgpu_limits_device *d = &c->limits.devices[0];
  d->seq = 2;
  d->flags = VGPU_LIMIT_ACTIVE | VGPU_LIMIT_COMPUTE;
  d->core_hard_permille = d->core_soft_permille = (uint32_t)c->tenant.permille;
  c->shared =
      (struct vgpu_shared){.mode = VGPU_ACTIVE, .devices = 1, .limits = &c->limits, .load = &c->load, .usage = &c->usage};
  baseline_begin(&c->baseline, w.cell->limiter == SIM_AIMD, c->tenant.permille / 10, w.cell->sms);
}

static void make_processes(void) {
  int n = 0;
  for (int k = 0; k < w.cell->tenants; k++) {
    struct container *c = &w.container[k];
    c->usage.header.slot_high_water = (uint32_t)c->tenant.processes;
    for (int i = 0; i < c->tenant.processes; i++, n++) {
      struct process *p = &w.process[n];
      p->container = k;
      p->index = n;
      c->usage.slots[i] = (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE, .pid = n + 1, .generation = 1};
      p->threads = calloc(SIM_STREAMS, sizeof *p->threads);
      if (p->threads == NULL) abort();
      pace_init(&p->pace, &world, &c->shared, (uint32_t)i, p->threads);
      for (int s = 0; s < c->tenant.streams; s++) {
        int task = task_add(tenant_body);
        w.task_process[task] = n;
        w.task_stream[task] = s;
      }
    }
  }
  w.gpu.processes = n;
}

struct sim_result sim_run(const struct sim_cell *cell) {
  struct sim_result result = {{0}, {0}};
  memset(&w, 0, sizeof w);
  w.cell = cell;
  w.random = cell->seed;
  w.container = calloc(SIM_TENANTS, sizeof *w.container);
  w.process = calloc(SIM_PROCESSES, sizeof *w.process);
  w.gpu.process = calloc(SIM_PROCESSES, sizeof *w.gpu.process);
  w.card = calloc(1, sizeof *w.card);
  if (w.container == NULL || w.process == NULL || w.gpu.process == NULL || w.card == NULL) abort();
  w.gpu.sms = cell->sms;
  w.gpu.current = w.gpu.last = -1;
  w.gpu.random = &w.random;
  w.gpu.now = 100 * SEC; /* a machine is never as young as 0 */
  refund_begin(w.card, gpu_model_of("NVIDIA H200"));
  tasks_begin(&w.gpu);
  for (int k = 0; k < cell->tenants; k++) make_container(k);
  make_processes();
  (void)task_add(node_body);
  if (cell->limiter >= SIM_DELTA) (void)task_add(nvml_body);
  tasks_run(w.gpu.now + cell->warm_ns);
  int64_t before[SIM_TENANTS];
  for (int k = 0; k < cell->tenants; k++) before[k] = busy_of(k);
  tasks_run(w.gpu.now + cell->measured_ns);
  for (int k = 0; k < cell->tenants; k++) {
    result.share[k] = 100.0 * (double)(busy_of(k) - before[k]) / (double)cell->measured_ns;
    result.throttled[k] = (double)w.container[k].usage.devices[0].throttle_ns / 1e9;
  }
  for (int i = 0; i < w.gpu.processes; i++) free(w.process[i].threads);
  free(w.container);
  free(w.process);
  free(w.gpu.process);
  free(w.card);
  return result;
}
