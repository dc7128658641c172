/* Which stretches of a card's time this process has paid for: streams that run at once share their time, and pay it once. */
#ifndef VGPU_PACE_COVER_H
#define VGPU_PACE_COVER_H

#include <stdint.h>

enum { PACE_COVERS = 32 };

/* Disjoint stretches, the oldest overwritten first; slices that follow each other melt into one. */
struct pace_cover {
  struct {
    int64_t from_ns, to_ns;
  } part[PACE_COVERS];
  uint32_t next;
};

/* Adds a stretch and returns how much of it is new. */
int64_t cover_add(struct pace_cover *c, int64_t from_ns, int64_t to_ns);

#endif
