/*
 * shim-sim quick: a part of the cells, with the bounds of spec 8.6.  shim-sim table SEED…: all, as the page docs/simulation-shim.md.
 * shim-sim cells SET: each cell of a set, for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "check.h"

static struct tally run(enum sim_set set, enum sim_limiter limiter, uint64_t seed, int every, bool print) {
  static struct tally t;
  memset(&t, 0, sizeof t);
  struct sim_cell cell;
  for (int n = 0; set_cell(set, n, seed, &cell); n++) {
    if (n % every != 0) continue;
    cell.limiter = limiter;
    struct sim_result r = sim_run(&cell);
    tally_add(&t, &cell, &r);
    for (int k = 0; k < cell.tenants && print; k++)
      (void)printf("%s%lld us x %d, %d proc., %g %%: %.2f", k == 0 ? "" : " | ",
                   (long long)(cell.tenant[k].work.kernel_ns[0] / US), cell.tenant[k].work.batch, cell.tenant[k].processes,
                   cell.tenant[k].permille / 10.0, r.share[k]);
    for (int k = 0; k < cell.tenants && print; k++) {
      if (r.share[k] < cell.tenant[k].permille / 10.0 - 2) (void)printf(" [%d waited %.1f s]", k + 1, r.throttled[k]);
    }
    if (print) (void)printf("\n");
  }
  return t;
}

static int quick(void) {
  static const struct {
    enum sim_set set;
    int every;
    double mean, worst;
  } bound[] = {{SET_ALONE, 5, 1, 2}, {SET_PAIRS, 13, 2, 5}, {SET_FOUR, 5, 2, 5}, {SET_SIBLINGS, 5, 2, 5}};
  for (unsigned i = 0; i < sizeof bound / sizeof bound[0]; i++) {
    struct tally t = run(bound[i].set, SIM_OURS, 1, bound[i].every, false);
    (void)printf("%s: %d cells, mean %.2f, worst %.2f (%s)\n", set_name[bound[i].set], t.cells, tally_mean(&t), t.worst,
                 t.worst_cell);
    CHECK(tally_mean(&t) <= bound[i].mean, "%s: mean error %.2f", set_name[bound[i].set], tally_mean(&t));
    CHECK(t.worst <= bound[i].worst, "%s: worst error %.2f: %s", set_name[bound[i].set], t.worst, t.worst_cell);
  }
  /* the control: the model must show what a bad limiter does */
  struct tally bad = run(SET_ALONE, SIM_DELTA, 1, 5, false);
  CHECK(tally_mean(&bad) > 5, "the baseline misses its limit by no more than %.2f: this model shows nothing", tally_mean(&bad));
  return check_result();
}

static void row(const char *who, enum sim_set set, struct tally *t) {
  (void)printf("| %s | %s | %d | %.2f | %.2f | %.2f | %.2f | %s |\n", set_name[set], who, t->cells, tally_mean(t), tally_p95(t),
               t->worst, t->worst_above, t->worst_cell);
}

static int table(int count, char **seeds) {
  static const char *const text[] = {
      "# The limiter in simulation\n",
      "Written by `make sim-shim`: discrete events in virtual time, the limiter's and the refund ledger's own objects, an H200-like",
      "card (time slices of 2.07 to 2.11 ms, 0.18 ms for a change of process, 5 us a launch, 2 us an event). Errors in points: percent of",
      "the time in which a tenant's kernels ran, less its limit; 8 s after 2 s. A model is no measurement: hardware figures are in",
      "[benchmarks](benchmarks/).\n",
      "`delta` and `AIMD` are our reading of the formulas that prior art has published, in the same model; with neighbours they see",
      "what NVML shows each process, which is the whole card. A kernel has eight blocks for each multiprocessor that it fills.\n",
      "\"Waited\": for how long the limiter held launches of that tenant back. One that is short and did not wait was held up by its",
      "neighbours' turns, as happens to a tenant that waits for each of its tiny kernels beside many. The set under turns promises",
      "all of a card that loses some of itself to changes."};
  for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++) (void)printf("%s\n", text[i]);
  for (int i = 0; i < count; i++) {
    uint64_t seed = strtoull(seeds[i], NULL, 10);
    (void)printf(
        "\n## Seed %llu\n\n| set | limiter | cells | mean abs. error | p95 | worst | worst above | worst cell |\n"
        "|---|---|---|---|---|---|---|---|\n",
        (unsigned long long)seed);
    for (int set = 0; set < SETS; set++) {
      struct tally t = run((enum sim_set)set, SIM_OURS, seed, 1, false);
      row("ours", (enum sim_set)set, &t);
      if (set > SET_FOUR) continue;
      t = run((enum sim_set)set, SIM_DELTA, seed, 1, false);
      row("delta", (enum sim_set)set, &t);
      t = run((enum sim_set)set, SIM_AIMD, seed, 1, false);
      row("AIMD", (enum sim_set)set, &t);
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  int result = 2;
  if (argc == 2 && strcmp(argv[1], "quick") == 0) result = quick();
  if (argc >= 3 && strcmp(argv[1], "table") == 0) result = table(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "cells") == 0) {
    struct tally t = run((enum sim_set)atoi(argv[2]), SIM_OURS, 1, 1, true);
    (void)printf("mean %.3f worst %.2f: %s\n", tally_mean(&t), t.worst, t.worst_cell);
    result = 0;
  }
  tasks_end();
  return result;
}
