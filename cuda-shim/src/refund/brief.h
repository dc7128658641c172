/* Intervals of a time slice or two, in which interruptions can be counted: share.h says how. Pure. */
#ifndef VGPU_REFUND_BRIEF_H
#define VGPU_REFUND_BRIEF_H

#include "share.h"

/* What is left of a length when rounds of `others` whole time slices are taken out, as many as there must have been. */
struct refund_rest {
  int64_t own;      /* what is left */
  int64_t switches; /* of what was taken out, the switching */
  uint32_t rounds;
};

struct refund_rest refund_rest_of(const struct gpu_model *model, int64_t length_ns, uint32_t others);

/* As refund_share_of, for an interval that is brief. */
struct refund_share refund_brief_share(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns,
                                       bool fresh, const struct refund_history *const *others, uint32_t count);

#endif
