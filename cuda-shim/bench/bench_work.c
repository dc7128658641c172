/*
 * A tenant that always has work: kernels of one length, in batches, some batches queued ahead. Prints what it got done in each
 * window of the measured time, as JSON. With --calibrate it prints the rounds that make a kernel of so many microseconds.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"

#define MAX_DEPTH 64
#define MAX_WINDOWS 600

struct plan {
  unsigned rounds;
  int batch;         /* kernels between two events */
  int depth;         /* batches queued ahead */
  double seconds;    /* measured */
  double warm;       /* before it is measured */
  double pause;      /* when to stop for a while, in seconds of the measured time; below 0: never */
  double pause_long; /* for how long */
  double window_ms;  /* length of the windows in which is counted */
  int64_t start_ns;  /* CLOCK_MONOTONIC; 0: now */
};

static double number(const char *flag, const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != 0) {
    fprintf(stderr, "%s %s: must be a number\n", flag, text);
    exit(2);
  }
  return value;
}

static void sleep_until(int64_t at_ns) {
  while (now_ns() < at_ns) {
    struct timespec t = {0, 200000};
    nanosleep(&t, NULL);
  }
}

/* Native time of one kernel of so many rounds, in ns: the least of several. */
static double kernel_ns(const struct gpu *gpu, unsigned rounds) {
  CUevent from;
  CUevent to;
  gpu_check(gpu->native.cuEventCreate(&from, 0), "cuEventCreate");
  gpu_check(gpu->native.cuEventCreate(&to, 0), "cuEventCreate");
  double least = 1e18;
  for (int i = 0; i < 9; i++) {
    gpu_check(gpu->native.cuEventRecord(from, gpu->stream), "cuEventRecord");
    gpu_spin(gpu, &gpu->native, rounds);
    gpu_check(gpu->native.cuEventRecord(to, gpu->stream), "cuEventRecord");
    gpu_check(gpu->native.cuEventSynchronize(to), "cuEventSynchronize");
    float ms;
    gpu_check(gpu->native.cuEventElapsedTime(&ms, from, to), "cuEventElapsedTime");
    least = (double)ms * 1e6 < least ? (double)ms * 1e6 : least;
  }
  return least;
}

static void calibrate(const struct gpu *gpu, double us) {
  unsigned rounds = 2000;
  kernel_ns(gpu, 2000000); /* clocks up */
  for (int i = 0; i < 6; i++) {
    double ns = kernel_ns(gpu, rounds);
    double next = (double)rounds * us * 1e3 / (ns > 1 ? ns : 1);
    rounds = (unsigned)(next < 1 ? 1 : next > 4e9 ? 4e9 : next);
  }
  printf("{\"us\": %g, \"rounds\": %u, \"measured_us\": %.3f}\n", us, rounds, kernel_ns(gpu, rounds) / 1e3);
}

/* What has been got done so far. */
struct tally {
  int64_t from, end; /* the measured time */
  double window_ns;
  int64_t last; /* end of the batch before */
  double kernels;
  double windows[MAX_WINDOWS];
};

/*
 * A batch that has ended: spread over the time since the one before, so that a window or a run holds parts of kernels. Counted
 * whole, 14 kernels in one second and 13 in the next would look like unsteadiness.
 */
static void finish_batch(struct tally *t, int batch, int64_t now) {
  double per_ns = now > t->last ? batch / (double)(now - t->last) : 0;
  int64_t at = t->last > t->from ? t->last : t->from;
  int64_t to = now < t->end ? now : t->end;
  t->last = now;
  while (at < to) {
    long window = (long)((double)(at - t->from) / t->window_ns);
    int64_t until = t->from + (int64_t)((double)(window + 1) * t->window_ns);
    if (until > to || until <= at) until = to;
    t->windows[window < MAX_WINDOWS ? window : MAX_WINDOWS - 1] += per_ns * (double)(until - at);
    t->kernels += per_ns * (double)(until - at);
    at = until;
  }
}

static void work(const struct gpu *gpu, const struct plan *plan) {
  CUevent done[MAX_DEPTH];
  static struct tally tally;
  for (int i = 0; i < plan->depth; i++) {
    gpu_check(gpu->shim.cuEventCreate(&done[i], 2), "cuEventCreate");
  }
  int64_t start = plan->start_ns != 0 ? plan->start_ns : now_ns();
  sleep_until(start);
  int64_t from = start + (int64_t)(plan->warm * 1e9);
  int64_t end = from + (int64_t)(plan->seconds * 1e9);
  int64_t pause_at = plan->pause < 0 ? end : from + (int64_t)(plan->pause * 1e9);
  long issued = 0;
  long finished = 0;
  tally = (struct tally){.from = from, .end = end, .window_ns = plan->window_ms * 1e6, .last = start};
  for (;;) {
    int64_t now = now_ns();
    if (now >= end) {
      break;
    }
    if (now >= pause_at) {
      gpu_check(gpu->shim.cuStreamSynchronize(gpu->stream), "cuStreamSynchronize");
      finished = issued;
      sleep_until(pause_at + (int64_t)(plan->pause_long * 1e9));
      pause_at = end;
      tally.last = now_ns();
      continue;
    }
    for (int k = 0; k < plan->batch; k++) {
      gpu_spin(gpu, &gpu->shim, plan->rounds);
    }
    gpu_check(gpu->shim.cuEventRecord(done[issued % plan->depth], gpu->stream), "cuEventRecord");
    issued++;
    while (finished < issued && issued - finished >= plan->depth) {
      gpu_check(gpu->shim.cuEventSynchronize(done[finished % plan->depth]), "cuEventSynchronize");
      finished++;
      finish_batch(&tally, plan->batch, now_ns());
    }
  }
  for (; finished < issued; finished++) { /* begun within the measured time, ended after it */
    gpu_check(gpu->shim.cuEventSynchronize(done[finished % plan->depth]), "cuEventSynchronize");
    finish_batch(&tally, plan->batch, now_ns());
  }
  printf("{\"kernels\": %.3f, \"seconds\": %g, \"windows\": [", tally.kernels, plan->seconds);
  for (int i = 0; i < (int)(plan->seconds * 1e3 / plan->window_ms) && i < MAX_WINDOWS; i++) {
    printf("%s%.3f", i == 0 ? "" : ", ", tally.windows[i]);
  }
  printf("], \"launch_owner\": \"%s\"}\n", owner_of(*(void *const *)&gpu->shim.cuLaunchKernel));
}

int main(int argc, char **argv) {
  struct plan plan = {0, 1, 2, 8, 2, -1, 0, 1000, 0};
  double us = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *flag = argv[i];
    double value = number(flag, argv[i + 1]);
    if (strcmp(flag, "--calibrate") == 0) {
      us = value;
    } else if (strcmp(flag, "--rounds") == 0) {
      plan.rounds = (unsigned)value;
    } else if (strcmp(flag, "--batch") == 0) {
      plan.batch = (int)value;
    } else if (strcmp(flag, "--depth") == 0 && value >= 1 && value <= MAX_DEPTH) {
      plan.depth = (int)value;
    } else if (strcmp(flag, "--seconds") == 0) {
      plan.seconds = value;
    } else if (strcmp(flag, "--warm") == 0) {
      plan.warm = value;
    } else if (strcmp(flag, "--pause-at") == 0) {
      plan.pause = value;
    } else if (strcmp(flag, "--pause-for") == 0) {
      plan.pause_long = value;
    } else if (strcmp(flag, "--window-ms") == 0 && value >= 10) {
      plan.window_ms = value;
    } else if (strcmp(flag, "--start-at") == 0) {
      plan.start_ns = strtoll(argv[i + 1], NULL, 10);
    } else {
      fprintf(stderr, "%s %s: unknown flag, or out of its range\n", flag, argv[i + 1]);
      return 2;
    }
  }
  struct gpu gpu;
  gpu_open(&gpu);
  if (us > 0) {
    calibrate(&gpu, us);
  } else {
    work(&gpu, &plan);
  }
  return 0;
}
