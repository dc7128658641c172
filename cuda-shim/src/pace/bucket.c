/* The bucket's arithmetic. */
#include "bucket.h"

/* Longer gaps earn no more: the bucket would be full anyway. Also bounds what a garbled clock can do. */
#define LONGEST_GAP (10 * PACE_S)
/* Refunds that are not spent in time to come are lost; no interval is long enough to earn more. */
#define MOST_CREDIT PACE_S
/* More at once is no refund but an agent that has begun anew, or garbage. */
#define MOST_REFUND (60 * PACE_S)

static int64_t clamp(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

static int64_t load(const int64_t *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }

/* Adds within bounds. Another writer makes it try again; under a storm of them the last try is given up: an error in our disfavour. */
static void add(int64_t *at, int64_t delta, int64_t low, int64_t high) {
  int64_t now = load(at);
  for (int i = 0; i < PACE_CAS_TRIES; i++) {
    int64_t next = clamp(clamp(now, low, high) + delta, low, high);
    if (next == now || __atomic_compare_exchange_n(at, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  }
}

void bucket_refill(struct vgpu_usage_device *u, int64_t now_ns, const struct pace_terms *terms, int64_t inflight_ns) {
  uint64_t last = __atomic_load_n(&u->last_refill_ns, __ATOMIC_ACQUIRE);
  int64_t gap = (int64_t)((uint64_t)now_ns - last);
  if (last == 0 || gap < -PACE_S)
    gap = 0; /* the first; or a time that has not come yet: nobody wrote that honestly */
  else if (gap <= 0)
    return; /* a sibling was here just now */
  if (!__atomic_compare_exchange_n(&u->last_refill_ns, &last, (uint64_t)now_ns, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return; /* likewise */
  int64_t earned = clamp(gap, 0, LONGEST_GAP) * terms->permille / VGPU_PERMILLE_FULL;
  int64_t credit = clamp(load(&u->refund_credit_ns), 0, MOST_CREDIT);
  add(&u->bucket_ns, earned, -terms->debt_ns, terms->cap_ns + clamp(inflight_ns, 0, LONGEST_GAP) + credit);
}

void bucket_take_refund(struct vgpu_usage_device *u, uint64_t refund_ns) {
  uint64_t taken = __atomic_load_n(&u->refund_taken_ns, __ATOMIC_ACQUIRE);
  if (taken == refund_ns) return;
  if (!__atomic_compare_exchange_n(&u->refund_taken_ns, &taken, refund_ns, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  uint64_t more = refund_ns - taken;
  if (refund_ns < taken || more > (uint64_t)MOST_REFUND) return;
  add(&u->refund_credit_ns, (int64_t)more, 0, MOST_CREDIT);
  add(&u->bucket_ns, (int64_t)more, -1000 * PACE_S, 1000 * PACE_S);
}

void bucket_charge(struct vgpu_usage_device *u, int64_t ns, const struct pace_terms *terms) {
  int64_t cost = clamp(ns, 0, 1000 * PACE_S);
  add(&u->bucket_ns, -cost, -terms->debt_ns, 1000 * PACE_S);
  add(&u->refund_credit_ns, -cost, 0, MOST_CREDIT);
  (void)__atomic_fetch_add(&u->raw_busy_ns, (uint64_t)cost, __ATOMIC_RELAXED);
}
