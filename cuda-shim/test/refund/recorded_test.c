/*
 * What a real card did, played again: intervals of tenants whose kernels have a known length, and the ledger must find that
 * length in each, however many turns of neighbours it was stretched by.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "looks.h"

enum { TICK_US = 5000, WARM_US = 350000, MOST = 4096 };

struct interval {
  uint32_t tenant, process;
  int64_t start_us;
  uint32_t length_us;
};

struct recorded {
  char name[64];
  int64_t until_us;
  uint32_t tenants, count;
  int64_t kernel_us[LOOK_TENANTS];
  uint32_t permille[LOOK_TENANTS];
  struct interval intervals[MOST];
};

static int cells;
static double sum_of_errors;

/* The slot says since when it has had something in flight, as the library does. */
static void tell_open(struct scene *s, const struct recorded *r, uint32_t from) {
  for (uint32_t t = 0; t < r->tenants; t++) {
    for (uint32_t p = 0; p < LOOK_PROCESSES; p++) s->tenants[t].slots[p].open_since_ns = 0;
  }
  for (uint32_t i = r->count; i-- > from;) {
    const struct interval *v = &r->intervals[i];
    int64_t start = v->start_us + 100000000;
    if (start < s->now_us) s->tenants[v->tenant].slots[v->process].open_since_ns = (uint64_t)start * 1000;
  }
}

/* What the ledger has settled: kernels, their intervals' lengths, and what was given back for them. */
struct settled {
  int64_t kernels, length_us, refund_us;
};

static struct settled settled_of(const struct scene *s, const struct recorded *r, uint32_t tenant) {
  const struct refund_container *c = refund_find(s->card, tenant + 1);
  struct settled sum = {0, 0, scene_refund(s, tenant)};
  uint64_t posted[LOOK_PROCESSES] = {0};
  for (uint32_t i = 0; i < r->count; i++) {
    const struct interval *v = &r->intervals[i];
    if (v->tenant != tenant || posted[v->process]++ >= c->processes[v->process].unsettled) continue;
    sum.kernels++;
    sum.length_us += v->length_us;
  }
  return sum;
}

static void play(const struct recorded *r) {
  struct scene *s = scene_begin(r->tenants);
  struct settled warm[LOOK_TENANTS];
  uint32_t at = 0;
  bool warmed = false;
  for (uint32_t t = 0; t < r->tenants; t++) s->tenants[t].permille = r->permille[t];
  while (s->now_us < 100000000 + r->until_us) {
    s->now_us += TICK_US;
    for (; at < r->count; at++) {
      const struct interval *v = &r->intervals[at];
      if (v->start_us + v->length_us + 100000000 > s->now_us) break;
      scene_post(s, v->tenant, v->process, v->start_us + 100000000, v->length_us);
    }
    tell_open(s, r, at);
    scene_look(s);
    if (!warmed && s->now_us >= 100000000 + WARM_US) {
      warmed = true;
      for (uint32_t t = 0; t < r->tenants; t++) warm[t] = settled_of(s, r, t);
    }
  }
  for (uint32_t t = 0; t < r->tenants && warmed; t++) {
    if (r->kernel_us[t] == 0) continue;
    struct settled now = settled_of(s, r, t);
    double had = (double)(now.length_us - warm[t].length_us - now.refund_us + warm[t].refund_us);
    double each = had / (double)(now.kernels - warm[t].kernels), error = each / (double)r->kernel_us[t] - 1;
    CHECK(fabs(error) <= 0.04, "%s: kernels of %" PRId64 " us are worth %.0f to the ledger", r->name, r->kernel_us[t], each);
    sum_of_errors += fabs(error);
    cells++;
  }
  CHECK_EQ(s->card->dropped[REFUND_DROP_ORDER] + s->card->dropped[REFUND_DROP_LATE], 0, "dropped");
  scene_end(s);
}

int main(int argc, char **argv) {
  static struct recorded r;
  char line[128];
  FILE *f = argc == 2 ? fopen(argv[1], "re") : NULL;
  if (f == NULL) {
    (void)fputs("usage: refund-recorded FILE\n", stderr);
    return 1;
  }
  while (fgets(line, sizeof line, f) != NULL) {
    struct interval *v = &r.intervals[r.count];
    char name[64];
    if (sscanf(line, "case %63s", name) == 1) {
      if (r.count > 0) play(&r);
      memset(&r, 0, sizeof r);
      memcpy(r.name, name, sizeof r.name);
    } else if (sscanf(line, "until %" SCNd64, &r.until_us) == 1) {
      CHECK(r.until_us > WARM_US, "%s", line);
    } else if (r.tenants < LOOK_TENANTS &&
               sscanf(line, "tenant %" SCNd64 " %" SCNu32, &r.kernel_us[r.tenants], &r.permille[r.tenants]) == 2) {
      r.tenants++;
    } else if (r.count < MOST && sscanf(line, "i %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNu32, &v->tenant, &v->process,
                                        &v->start_us, &v->length_us) == 4) {
      CHECK(v->tenant < r.tenants && v->process < LOOK_PROCESSES, "%s", line);
      r.count++;
    } else {
      CHECK(line[0] == '#', "%s", line);
    }
  }
  play(&r);
  (void)fclose(f);
  (void)printf("%d kinds of kernels, mean error %.2f %%\n", cells, 100 * sum_of_errors / cells);
  CHECK_EQ(cells, 29, "kinds of kernels");
  CHECK(sum_of_errors <= 0.015 * cells, "mean error");
  return check_result();
}
