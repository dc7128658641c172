/*
 * A card and its tenants in a time of their own: discrete events, one random seed, no thread and no clock of the machine.
 * What decides when a tenant may launch is the product's own code; each simulated thread runs it on a stack of its own.
 *
 * The card is modelled on an H200: processes take turns of 2 to 3 ms at it while two or more have work, a change costs
 * 0.17 ms, and kernels of one process on several streams run side by side as far as the multiprocessors reach.
 */
#ifndef VGPU_SIM_H
#define VGPU_SIM_H

#include <stdbool.h>
#include <stdint.h>

#define US INT64_C(1000)
#define MS (1000 * US)
#define SEC (1000 * MS)

enum { SIM_PROCESSES = 64, SIM_STREAMS = 2, SIM_QUEUE = 1024, SIM_TENANTS = 8 };

/* What stands between a tenant and the card. */
enum sim_limiter { SIM_NONE, SIM_OURS, SIM_DELTA, SIM_AIMD };

/* What every process of a tenant does for ever: batches of kernels, and perhaps a wait for each. */
struct sim_work {
  int64_t kernel_ns[3]; /* in turn; unused ones 0 */
  int batch;            /* kernels, then one wait; 0: never waits */
  int sms;              /* multiprocessors that a kernel fills, for the baselines and for streams side by side */
  int64_t host_ns;      /* between batches */
};

struct sim_tenant {
  struct sim_work work;
  int processes, streams;
  int permille;
};

struct sim_cell {
  enum sim_limiter limiter;
  int sms; /* of the card */
  int tenants;
  struct sim_tenant tenant[SIM_TENANTS];
  bool refunds, turns;
  int64_t warm_ns, measured_ns;
  uint64_t seed;
};

struct sim_result {
  double share[SIM_TENANTS];     /* percent of the time in which the tenant's kernels ran */
  double throttled[SIM_TENANTS]; /* seconds that launches waited; ours only */
};

struct sim_result sim_run(const struct sim_cell *cell);

/* ---- gpu.c: the card */

struct sim_op {
  int64_t left_ns;
  int sms;
  int64_t *done_at; /* an event: gets the time; a kernel: null */
};

struct sim_stream {
  struct sim_op op[SIM_QUEUE];
  uint64_t pushed, done;
};

struct sim_gpu_process {
  struct sim_stream stream[SIM_STREAMS];
  int64_t busy_ns;
};

struct sim_gpu {
  int processes, sms;
  int64_t now, switched_at; /* switching until then */
  int current, last;        /* -1: none */
  int64_t slice_end;
  uint64_t *random;
  struct sim_gpu_process *process;
};

void gpu_push(struct sim_gpu *g, int process, int stream, struct sim_op op);
/* When something happens next if nothing is pushed; INT64_MAX: nothing. */
int64_t gpu_next(struct sim_gpu *g);
void gpu_run_to(struct sim_gpu *g, int64_t to);
static inline bool gpu_stream_idle(const struct sim_stream *s) { return s->pushed == s->done; }

uint64_t sim_random(uint64_t *state);

/* ---- tasks.c: simulated threads */

typedef void (*sim_body)(int task);
void tasks_begin(struct sim_gpu *gpu);
int task_add(sim_body body);
void tasks_run(int64_t until);
void tasks_end(void);
int task_current(void);
int64_t sim_now(void);
/* The current task goes on after so long. */
void sim_advance(int64_t ns);
/* It goes on when the stream is idle. */
void sim_wait_idle(const struct sim_stream *s);
/* It goes on after so long, or soon after somebody called sim_wake with the word. */
void sim_wait_word(const uint32_t *word, int64_t ns);
void sim_wake(const uint32_t *word);

/* ---- baseline.c: prior art's formulas (spec 5.2, 5.3) */

struct baseline {
  double tokens, share, pool;
  int limit, sms;
  int cooldown;
  bool aimd;
};
void baseline_begin(struct baseline *b, bool aimd, int limit_percent, int sms);
/* Each 100 ms, with what NVML tells. */
void baseline_tick(struct baseline *b, int measured_percent);
/* One launch; true: it may go now. */
bool baseline_take(struct baseline *b, int blocks);

#endif
