/* Simulated threads: each has a stack of its own and gives up the processor only where time passes for it. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "sim.h"

enum { TASKS = 256, STACK = 1024 * 1024, WAKE_NS = 20000, SYNC_NS = 8000 };

struct task {
  ucontext_t context;
  void *stack;
  sim_body body;
  int64_t wake_at;
  const uint32_t *word;
  const struct sim_stream *stream;
};

static struct {
  struct task task[TASKS];
  int count, current;
  ucontext_t home;
  struct sim_gpu *gpu;
  int64_t now, until;
} s;

int task_current(void) { return s.current; }
int64_t sim_now(void) { return s.now; }

void tasks_begin(struct sim_gpu *gpu) {
  s.count = 0;
  s.current = -1;
  s.gpu = gpu;
  s.now = gpu->now;
}

static void entry(void) {
  s.task[s.current].body(s.current);
  abort(); /* tasks go on for ever */
}

int task_add(sim_body body) {
  struct task *t = &s.task[s.count];
  if (s.count == TASKS || getcontext(&t->context) != 0) abort();
  if (t->stack == NULL) t->stack = malloc(STACK);
  if (t->stack == NULL) abort();
  t->context.uc_stack.ss_sp = t->stack;
  t->context.uc_stack.ss_size = STACK;
  t->context.uc_link = NULL;
  t->body = body;
  t->wake_at = s.now + s.count * 7 * US; /* they do not begin all at once */
  t->word = NULL;
  t->stream = NULL;
  makecontext(&t->context, entry, 0);
  return s.count++;
}

void tasks_end(void) {
  for (int i = 0; i < TASKS; i++) {
    free(s.task[i].stack);
    s.task[i].stack = NULL;
  }
}

/* A task that waits for a stream goes on a little after it has become idle. */
static void look_at_streams(void) {
  for (int i = 0; i < s.count; i++) {
    struct task *t = &s.task[i];
    if (t->stream == NULL || !gpu_stream_idle(t->stream)) continue;
    t->stream = NULL;
    t->wake_at = s.now + SYNC_NS;
  }
}

static int64_t first_wake(int *who) {
  int64_t first = INT64_MAX;
  for (int i = 0; i < s.count; i++) {
    if (s.task[i].stream == NULL && s.task[i].wake_at < first) first = s.task[i].wake_at, *who = i;
  }
  return first;
}

static void yield(void) {
  int me = s.current;
  (void)swapcontext(&s.task[me].context, &s.home);
}

void sim_advance(int64_t ns) {
  int who;
  int64_t to = s.now + ns;
  s.task[s.current].wake_at = INT64_MAX;
  bool alone = to <= s.until && first_wake(&who) > to;
  for (int i = 0; i < s.count && alone; i++) alone = s.task[i].stream == NULL;
  s.task[s.current].wake_at = to;
  if (alone) { /* nobody can come in between: no need to leave the stack */
    gpu_run_to(s.gpu, to);
    s.now = to;
    return;
  }
  yield();
}

void sim_wait_idle(const struct sim_stream *stream) {
  s.task[s.current].stream = stream;
  s.task[s.current].wake_at = s.now;
  yield();
}

void sim_wait_word(const uint32_t *word, int64_t ns) {
  s.task[s.current].word = word;
  s.task[s.current].wake_at = s.now + ns;
  yield();
  s.task[s.current].word = NULL;
}

void sim_wake(const uint32_t *word) {
  for (int i = 0; i < s.count; i++) {
    struct task *t = &s.task[i];
    if (t->word == word && t->wake_at > s.now + WAKE_NS) t->wake_at = s.now + WAKE_NS;
  }
}

void tasks_run(int64_t until) {
  s.until = until;
  while (s.now < until) {
    int who = -1;
    look_at_streams();
    int64_t wake = first_wake(&who), gpu = gpu_next(s.gpu);
    int64_t next = wake < gpu ? wake : gpu;
    if (next > until) next = until;
    if (next > s.now) {
      gpu_run_to(s.gpu, next);
      s.now = next;
    }
    if (wake > s.now || who < 0) continue;
    s.current = who;
    (void)swapcontext(&s.home, &s.task[who].context);
    s.current = -1;
  }
}
