/*
 * Measures on an idle card what gpu_model.def says of its model, and prints the line for it. Two processes: one launches long
 * kernels, the other nothing, long ones, or tiny ones. All times are the driver's own events.
 *
 *   alone         L, the long kernel's time
 *   with a like   each further L takes e = 2 L (1 + leave / slice): what switching costs of shared time
 *   with tiny     each further L takes e = L + n (tiny + leave + back), n tiny ones, one for each slice: n = L / slice
 *
 * "Further": what a kernel of 2 L takes more than one of L, so that how its first and last slice fall does not count.
 *
 * The card must be idle, and this must run without the library in front of the driver.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"

enum { RUNS = 21 };

enum task { REST, LONG, TINY, END };

/* Between the two processes. */
struct shared {
  _Atomic int task;    /* for the neighbour */
  _Atomic int at_work; /* the neighbour has begun with it */
  _Atomic unsigned long done;
};

static double elapsed_us(const struct gpu *gpu, CUevent from, CUevent to) {
  float ms;
  gpu_check(gpu->shim.cuEventElapsedTime(&ms, from, to), "cuEventElapsedTime");
  return (double)ms * 1000;
}

/* One kernel, measured; what it took on the card, with others' turns in it. */
static double one(const struct gpu *gpu, CUevent from, CUevent to, unsigned rounds) {
  gpu_check(gpu->shim.cuEventRecord(from, gpu->stream), "cuEventRecord");
  gpu_spin(gpu, &gpu->shim, rounds);
  gpu_check(gpu->shim.cuEventRecord(to, gpu->stream), "cuEventRecord");
  gpu_check(gpu->shim.cuEventSynchronize(to), "cuEventSynchronize");
  return elapsed_us(gpu, from, to);
}

/* Rounds for a kernel of so many microseconds, alone. */
static unsigned rounds_for(const struct gpu *gpu, CUevent from, CUevent to, double us) {
  double rounds = 1000;
  for (int i = 0; i < 12; i++) {
    double took = one(gpu, from, to, (unsigned)rounds);
    double factor = took > 0 ? us / took : 10;
    rounds *= factor > 10 ? 10 : factor < 0.1 ? 0.1 : factor;
    if (rounds < 1) rounds = 1;
    if (rounds > 4e9) rounds = 4e9;
  }
  return (unsigned)rounds;
}

/* The neighbour: does what it is told. Each process opens the driver for itself. */
static void neighbour(struct shared *shared, unsigned long_rounds, unsigned tiny_rounds) {
  struct gpu gpu;
  CUevent ends[2];
  unsigned n = 0;
  gpu_open(&gpu);
  for (int i = 0; i < 2; i++) gpu_check(gpu.shim.cuEventCreate(&ends[i], 0), "cuEventCreate");
  for (int task; (task = shared->task) != END;) {
    if (task == REST) {
      shared->at_work = 0;
      (void)usleep(200);
      continue;
    }
    gpu_spin(&gpu, &gpu.shim, task == LONG ? long_rounds : tiny_rounds);
    gpu_check(gpu.shim.cuEventRecord(ends[n % 2], gpu.stream), "cuEventRecord");
    n++;
    /* long ones are queued ahead, so that it always has work; a tiny one is alone in its turn */
    gpu_check(gpu.shim.cuEventSynchronize(task == LONG && n > 1 ? ends[n % 2] : ends[(n + 1) % 2]), "cuEventSynchronize");
    shared->done++;
    shared->at_work = 1;
  }
  _exit(0);
}

struct means {
  double took_us; /* by what is further */
  double others;  /* kernels of the neighbour's in it */
};

static struct means run_beside(const struct gpu *gpu, struct shared *shared, unsigned rounds, CUevent from, CUevent to) {
  double took = 0, others = 0; /* sums, so that a turn which the neighbour missed is missing in both */
  for (int i = 0; i < RUNS; i++) {
    unsigned long before = shared->done;
    took += one(gpu, from, to, rounds);
    others += (double)(shared->done - before);
  }
  return (struct means){took / RUNS, others / RUNS};
}

static struct means further(const struct gpu *gpu, struct shared *shared, enum task task, unsigned rounds, CUevent from,
                            CUevent to) {
  shared->task = task;
  for (int i = 0; task != REST && !shared->at_work && i < 100000; i++) (void)usleep(100);
  struct means once = run_beside(gpu, shared, rounds, from, to), twice = run_beside(gpu, shared, 2 * rounds, from, to);
  shared->task = REST;
  for (int i = 0; shared->at_work && i < 100000; i++) (void)usleep(100);
  return (struct means){twice.took_us - once.took_us, twice.others - once.others};
}

int main(int argc, char **argv) {
  double long_us = argc > 1 ? atof(argv[1]) : 50000, tiny_us = 100;
  if (argc > 2 || long_us < 10000 || long_us > 500000) {
    (void)fprintf(stderr, "usage: vgpu-calibrate [MICROSECONDS]: length of the long kernels, 10000 to 500000, default 50000\n");
    return 125;
  }
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int pipe_fds[2];
  unsigned rounds[2];
  if (shared == MAP_FAILED || pipe(pipe_fds) != 0) return 125;
  pid_t child = fork(); /* before the driver is open: it does not live through a fork */
  if (child < 0) return 125;
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(pipe_fds[1]); /* else it would wait for ever on itself where the other has ended */
    if (read(pipe_fds[0], rounds, sizeof rounds) != (ssize_t)sizeof rounds) _exit(1);
    neighbour(shared, rounds[0], rounds[1]);
  }
  struct gpu gpu;
  CUevent from, to;
  char name[96] = "";
  gpu_open(&gpu);
  gpu_check(gpu.shim.cuDeviceGetName(name, sizeof name, 0), "cuDeviceGetName");
  gpu_check(gpu.shim.cuEventCreate(&from, 0), "cuEventCreate");
  gpu_check(gpu.shim.cuEventCreate(&to, 0), "cuEventCreate");
  rounds[0] = rounds_for(&gpu, from, to, long_us);
  rounds[1] = rounds_for(&gpu, from, to, tiny_us);
  if (write(pipe_fds[1], rounds, sizeof rounds) != (ssize_t)sizeof rounds) return 125;

  double alone = further(&gpu, shared, REST, rounds[0], from, to).took_us;
  double tiny = run_beside(&gpu, shared, rounds[1], from, to).took_us;
  struct means like = further(&gpu, shared, LONG, rounds[0], from, to);
  struct means among = further(&gpu, shared, TINY, rounds[0], from, to);
  shared->task = END;
  int status;
  (void)waitpid(child, &status, 0);

  double loss = 1 - 2 * alone / like.took_us;
  double pair = among.others > 0 ? (among.took_us - alone) / among.others - tiny : 0;
  double slice = among.others > 0 ? alone / among.others : 0;
  double leave = loss > 0 && loss < 1 ? slice * loss / (1 - loss) : 0;
  if (leave > pair) leave = pair;                          /* two measurements of nearly the same */
  double most = slice > 0 ? pair / (pair + slice / 2) : 0; /* as if slices were half as long */
  (void)printf("card: %s\nlong kernel alone: %.0f us, with a like: %.0f, with tiny ones of %.0f us: %.0f\n", name, alone,
               like.took_us, tiny, among.took_us);
  (void)printf("time slice: %.0f us; two switches: %.0f us; lost of shared time: %.1f %%\n", slice, pair, loss * 100);
  if (!(slice > 0) || !(loss >= 0) || !(pair >= 0)) {
    (void)printf("no line: the neighbour got no turns as expected; is the card idle, and not under MPS?\n");
    return 1;
  }
  (void)printf("GPU(\"%s\", %.0f, %.0f, %.0f, %.0f, %.0f)\n", name, slice, leave, pair - leave, loss * 1000, most * 1000);
  return 0;
}
