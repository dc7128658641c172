/* The sets. */
#include "cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const set_name[SETS] = {"one tenant, 5 to 90 %",
                                    "two tenants, limits up to 80 %",
                                    "four tenants of 20 %",
                                    "2 to 8 processes in one container at 50 %",
                                    "1 to 8 tenants of 1 or 2 processes, 16 to 188 SMs, by chance",
                                    "two tenants of 50 % under turns"};

static double expected(const struct sim_cell *cell, int k) { return cell->tenant[k].permille / 10.0; }

void tally_add(struct tally *t, const struct sim_cell *cell, const struct sim_result *r) {
  t->cells++;
  for (int k = 0; k < cell->tenants; k++) {
    double error = r->share[k] - expected(cell, k), size = fabs(error);
    if (t->figures < (int)(sizeof t->all / sizeof t->all[0])) t->all[t->figures] = size;
    t->figures++;
    t->sum += size;
    if (error > t->worst_above) t->worst_above = error;
    if (size <= t->worst) continue;
    t->worst = size;
    (void)snprintf(t->worst_cell, sizeof t->worst_cell, "%d of %d: %.1f of %.1f %%, %lld us x %d, %d proc.", k + 1,
                   cell->tenants, r->share[k], expected(cell, k), (long long)(cell->tenant[k].work.kernel_ns[0] / US),
                   cell->tenant[k].work.batch, cell->tenant[k].processes);
    size_t n = strlen(t->worst_cell);
    if (cell->limiter == SIM_OURS)
      (void)snprintf(t->worst_cell + n, sizeof t->worst_cell - n, ", waited %.1f s", r->throttled[k]);
  }
}

double tally_mean(const struct tally *t) { return t->figures == 0 ? 0 : t->sum / t->figures; }

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double tally_p95(struct tally *t) {
  if (t->figures == 0) return 0;
  qsort(t->all, (size_t)t->figures, sizeof t->all[0], by_size);
  return t->all[(t->figures - 1) * 95 / 100];
}

/* The lengths of the benchmark, and both ends. */
static const struct sim_work lengths[] = {{{10 * US}, 256, 132, 0},
                                          {{76 * US}, 8, 132, 0},
                                          {{740 * US}, 1, 132, 0},
                                          {{7300 * US}, 1, 132, 0},
                                          {{50 * MS}, 1, 132, 0},
                                          {{100 * MS}, 1, 132, 0},
                                          {{8 * US, 80 * US, 1500 * US}, 32, 132, 0}};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], PAIRED = 5 };

static struct sim_tenant tenant(const struct sim_work *work, int processes, int permille) {
  return (struct sim_tenant){.work = *work, .processes = processes, .streams = 1, .permille = permille};
}

static bool alone(int n, struct sim_cell *c) {
  static const int limits[] = {50, 100, 250, 500, 750, 900};
  if (n >= 6 * LENGTHS) return false;
  c->tenants = 1;
  c->tenant[0] = tenant(&lengths[n / 6], 1, limits[n % 6]);
  return true;
}

static bool pairs(int n, struct sim_cell *c) {
  static const int splits[][2] = {{250, 500}, {500, 250}, {100, 600}, {500, 300}};
  if (n >= 4 * PAIRED * PAIRED) return false;
  const int *split = splits[n % 4];
  c->tenants = 2;
  c->tenant[0] = tenant(&lengths[n / 4 % PAIRED], 1, split[0]);
  c->tenant[1] = tenant(&lengths[n / 4 / PAIRED], 1, split[1]);
  return true;
}

static bool four(int n, struct sim_cell *c) {
  static const int mixes[][4] = {{1, 2, 3, 4}, {0, 1, 2, 3}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 1, 1}, {2, 2, 4, 6}};
  if (n >= 6) return false;
  c->tenants = 4;
  for (int k = 0; k < 4; k++) c->tenant[k] = tenant(&lengths[mixes[n][k]], 1, 200);
  return true;
}

static bool siblings(int n, struct sim_cell *c) {
  static const int counts[] = {2, 4, 8};
  if (n >= 3 * 4) return false;
  c->tenants = 1;
  c->tenant[0] = tenant(&lengths[1 + n / 3], counts[n % 3], 500);
  return true;
}

static bool random_cell(int n, uint64_t seed, struct sim_cell *c) {
  if (n >= 24) return false;
  uint64_t r = seed * 1000 + (uint64_t)n;
  c->tenants = 1 + n % 8;
  c->sms = 16 + (int)(sim_random(&r) % 173);
  int left = 800;
  for (int k = 0; k < c->tenants; k++) {
    double octave = (double)(sim_random(&r) % 1000) / 1000 * 4; /* 10 us to 100 ms */
    struct sim_work work = {{(int64_t)(10e3 * pow(10, octave))}, 1 + (int)(sim_random(&r) % 16), c->sms, 0};
    if (work.kernel_ns[0] > 10 * MS) work.batch = 1;
    int share = 50 + (int)(sim_random(&r) % (uint64_t)(2 * 800 / c->tenants - 50));
    int room = left - 50 * (c->tenants - 1 - k);
    if (share > room) share = room;
    left -= share;
    c->tenant[k] = tenant(&work, 1 + (int)(sim_random(&r) % 2), share);
  }
  return true;
}

static bool turns(int n, struct sim_cell *c) {
  static const int mixes[][2] = {{2, 2}, {1, 1}, {1, 2}, {0, 2}, {3, 2}, {3, 3}, {3, 1}};
  if (n >= 7) return false;
  c->tenants = 2;
  c->turns = true;
  for (int k = 0; k < 2; k++) c->tenant[k] = tenant(&lengths[mixes[n][k]], 1, 500);
  return true;
}

bool set_cell(enum sim_set set, int n, uint64_t seed, struct sim_cell *cell) {
  *cell = (struct sim_cell){.limiter = SIM_OURS,
                            .sms = 132,
                            .refunds = true,
                            .warm_ns = 2 * SEC,
                            .measured_ns = 8 * SEC,
                            .seed = seed * 7919 + (uint64_t)n};
  switch (set) {
    case SET_ALONE: return alone(n, cell);
    case SET_PAIRS: return pairs(n, cell);
    case SET_FOUR: return four(n, cell);
    case SET_SIBLINGS: return siblings(n, cell);
    case SET_RANDOM: return random_cell(n, seed, cell);
    case SET_TURNS: return turns(n, cell);
    case SETS: break;
  }
  return false;
}
