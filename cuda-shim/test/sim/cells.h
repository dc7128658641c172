/* What is simulated: sets of cells, each from a seed, and what came of them. */
#ifndef VGPU_SIM_CELLS_H
#define VGPU_SIM_CELLS_H

#include "sim.h"

/* Errors in points, over all tenants of all cells of a set. */
struct tally {
  int cells, figures;
  double sum, worst, worst_above;
  double all[8192];
  char worst_cell[128];
};

void tally_add(struct tally *t, const struct sim_cell *cell, const struct sim_result *r);
double tally_mean(const struct tally *t);
double tally_p95(struct tally *t);

enum sim_set { SET_ALONE, SET_PAIRS, SET_FOUR, SET_SIBLINGS, SET_RANDOM, SET_TURNS, SETS };
extern const char *const set_name[SETS];

/* The n-th cell of a set; false: there are no more. `every`: only each so-manieth, to be quick. */
bool set_cell(enum sim_set set, int n, uint64_t seed, struct sim_cell *cell);

#endif
