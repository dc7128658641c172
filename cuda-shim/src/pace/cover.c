/* A set of stretches of time. */
#include "cover.h"

int64_t cover_add(struct pace_cover *c, int64_t from_ns, int64_t to_ns) {
  if (to_ns <= from_ns) return 0;
  int64_t fresh = to_ns - from_ns, from = from_ns, to = to_ns;
  for (int i = 0; i < PACE_COVERS; i++) {
    int64_t a = c->part[i].from_ns, b = c->part[i].to_ns;
    if (b <= a || a > to_ns || b < from_ns) continue; /* unused, or apart; one that just touches is melted */
    int64_t low = a > from_ns ? a : from_ns, high = b < to_ns ? b : to_ns;
    fresh -= high - low; /* the parts are disjoint, so nothing is taken off twice */
    if (a < from) from = a;
    if (b > to) to = b;
    c->part[i].to_ns = c->part[i].from_ns;
  }
  uint32_t at = c->next;
  for (uint32_t i = 0; i < PACE_COVERS; i++) {
    uint32_t k = (c->next + i) % PACE_COVERS;
    if (c->part[k].to_ns > c->part[k].from_ns) continue;
    at = k;
    break;
  }
  if (c->part[at].to_ns > c->part[at].from_ns) c->next = (at + 1) % PACE_COVERS; /* full: the oldest goes */
  c->part[at].from_ns = from;
  c->part[at].to_ns = to;
  return fresh;
}
