/*
 * A bug planted into the refund ledger, which the fuzz target must find: a refund that is more than the interval.
 */
#include "refund/share.h"

struct refund_share __real_refund_share_of(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns,
                                           bool fresh, const struct refund_history *const *others, uint32_t count);
struct refund_share __wrap_refund_share_of(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns,
                                           bool fresh, const struct refund_history *const *others, uint32_t count);

struct refund_share __wrap_refund_share_of(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns,
                                           bool fresh, const struct refund_history *const *others, uint32_t count) {
  struct refund_share share = __real_refund_share_of(model, interval, earned_ns, fresh, others, count);
  share.refund = interval.end - interval.start + 1000; /* more than the whole of it */
  return share;
}
