/*
 * Turns (spec 5.8): when several containers want the whole card, the agent gives each a stretch of every period. A slice is
 * opened only if it ends before the container's turn does; one too long for that may open where its turn begins, and the
 * turns that follow are shorter by what it ran over.
 */
#ifndef VGPU_PACE_TURN_H
#define VGPU_PACE_TURN_H

#include "policy.h"

/* What one process has run over, on one card. */
struct pace_turn {
  int64_t overrun_ns;
  int64_t number;  /* of the turn from which `overrun_ns` was last taken */
  int64_t used_ns; /* what the present turn is shorter by */
};

/*
 * 0: a slice of `estimate_ns` may open now, behind `ahead_ns` that is in flight. Else the time to wait. *room_ns gets what is
 * left of the turn for slices that are not open yet, INT64_MAX without turns.
 */
int64_t turn_wait(struct pace_turn *t, const struct pace_load *load, int64_t now_ns, int64_t ahead_ns, int64_t estimate_ns,
                  int64_t *room_ns);

/* A slice of this process has ended; it had been opened at `opened_ns`. */
void turn_ended(struct pace_turn *t, const struct pace_load *load, int64_t opened_ns, int64_t end_ns);

#endif
