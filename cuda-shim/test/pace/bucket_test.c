/* The bucket by hand-computed values: refill, caps, debt, refunds, garbage, and threads that race for all of it. */
#include <pthread.h>

#include "check.h"
#include "pace/bucket.h"

static const struct pace_terms quarter = {
    .permille = 250, .cap_ns = 5 * PACE_MS, .debt_ns = 2500 * PACE_MS, .runahead_ns = PACE_MS, .max_stall_ns = 10 * PACE_S};

static struct vgpu_usage_device at(int64_t bucket_ns, int64_t last_ns) {
  return (struct vgpu_usage_device){.bucket_ns = bucket_ns, .last_refill_ns = (uint64_t)last_ns};
}

static void fills_by_share_and_time(void) {
  struct vgpu_usage_device u = at(0, 100 * PACE_MS);
  bucket_refill(&u, 108 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 2 * PACE_MS, "8 ms at 25 %");
  CHECK_EQ(u.last_refill_ns, 108 * PACE_MS, "whoever comes next counts from here");
  bucket_refill(&u, 108 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 2 * PACE_MS, "no time has passed");
  bucket_refill(&u, 107 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.last_refill_ns, 108 * PACE_MS, "a sibling whose clock was read earlier takes nothing back");
}

static void holds_no_more_than_its_cap(void) {
  struct vgpu_usage_device u = at(4 * PACE_MS, PACE_S);
  bucket_refill(&u, 2 * PACE_S, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 5 * PACE_MS, "the cap");
  bucket_refill(&u, 3 * PACE_S, &quarter, 50 * PACE_MS);
  CHECK_EQ(u.bucket_ns, 55 * PACE_MS, "the cap and what is in flight: a long kernel costs no tokens that come meanwhile");
  struct pace_terms less = quarter;
  less.cap_ns = 2 * PACE_MS;
  bucket_refill(&u, 3 * PACE_S + 1000, &less, 0);
  CHECK_EQ(u.bucket_ns, 2 * PACE_MS, "a lowered limit takes at once what is above");
}

static void debt_is_bounded(void) {
  struct vgpu_usage_device u = at(PACE_MS, PACE_S);
  bucket_charge(&u, 4 * PACE_MS, &quarter);
  CHECK_EQ(u.bucket_ns, -3 * PACE_MS, "paid after the fact");
  bucket_charge(&u, 100 * PACE_S, &quarter);
  CHECK_EQ(u.bucket_ns, -2500 * PACE_MS, "10 s at 25 %");
  CHECK_EQ(u.raw_busy_ns, 4 * PACE_MS + 100 * PACE_S, "what was charged is counted whole");
  CHECK_EQ(bucket_time_for(2500 * PACE_MS, &quarter), 10 * PACE_S, "time until it is even");
}

static void refunds_raise_the_cap_until_spent(void) {
  struct vgpu_usage_device u = at(5 * PACE_MS, PACE_S);
  bucket_take_refund(&u, (uint64_t)(7 * PACE_MS));
  bucket_refill(&u, PACE_S + 100 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 12 * PACE_MS, "cap 5 and refund 7");
  bucket_take_refund(&u, (uint64_t)(7 * PACE_MS));
  CHECK_EQ(u.refund_credit_ns, 7 * PACE_MS, "a refund is taken once");
  bucket_charge(&u, 4 * PACE_MS, &quarter);
  bucket_refill(&u, PACE_S + 200 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 8 * PACE_MS, "3 of the 7 are left");
  bucket_charge(&u, 8 * PACE_MS, &quarter);
  bucket_refill(&u, PACE_S + 300 * PACE_MS, &quarter, 0);
  CHECK_EQ(u.bucket_ns, 5 * PACE_MS, "none is left");
}

static void an_agent_that_began_anew_gives_nothing(void) {
  struct vgpu_usage_device u = at(0, PACE_S);
  bucket_take_refund(&u, 500);
  bucket_take_refund(&u, 100);
  CHECK_EQ(u.bucket_ns, 500, "lower than before: only the count is taken over");
  CHECK_EQ(u.refund_taken_ns, 100, "taken over");
  bucket_take_refund(&u, UINT64_MAX / 2);
  CHECK_EQ(u.bucket_ns, 500, "nobody is owed so much");
}

static void garbage_stays_within_bounds(void) {
  struct vgpu_usage_device u = at(INT64_MAX, INT64_MAX);
  u.refund_credit_ns = INT64_MAX;
  bucket_refill(&u, PACE_S, &quarter, INT64_MAX);
  CHECK(u.bucket_ns <= 5 * PACE_MS + 11 * PACE_S, "got %lld", (long long)u.bucket_ns);
  CHECK_EQ(u.last_refill_ns, PACE_S, "a time to come was not written honestly");
  u.bucket_ns = INT64_MIN;
  bucket_charge(&u, PACE_MS, &quarter);
  CHECK_EQ(u.bucket_ns, -2500 * PACE_MS, "not below the debt");
  bucket_charge(&u, -5, &quarter);
  CHECK_EQ(u.bucket_ns, -2500 * PACE_MS, "a negative cost is none");
}

/* ---- races: nothing earned twice, nothing lost */

enum { THREADS = 4, ROUNDS = 20000 };
static struct vgpu_usage_device shared;
static _Atomic int64_t clock_ns = PACE_S;
static const struct pace_terms roomy = {.permille = 500, .cap_ns = 900 * PACE_S, .debt_ns = 900 * PACE_S};

static void *refill_and_charge(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    bucket_refill(&shared, (clock_ns += 2000), &roomy, 0);
    bucket_charge(&shared, 500, &roomy);
    bucket_take_refund(&shared, (uint64_t)(i * 10));
  }
  return unused;
}

static void races_lose_nothing(void) {
  pthread_t t[THREADS];
  shared = at(0, PACE_S);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&t[i], NULL, refill_and_charge, NULL) == 0, "thread");
  for (int i = 0; i < THREADS; i++) (void)pthread_join(t[i], NULL);
  bucket_refill(&shared, clock_ns + 2000, &roomy, 0);
  CHECK_EQ(shared.raw_busy_ns, (int64_t)THREADS * ROUNDS * 500, "every charge is counted");
  int64_t earned = (clock_ns + 2000 - PACE_S) / 2;
  int64_t without_refunds = earned - (int64_t)THREADS * ROUNDS * 500;
  /* refunds go forth and back here, so what they gave is at least the whole way once */
  CHECK(shared.bucket_ns >= without_refunds, "%lld is less than %lld", (long long)shared.bucket_ns, (long long)without_refunds);
  CHECK(shared.bucket_ns <= without_refunds + (int64_t)THREADS * ROUNDS * 10 * ROUNDS, "earned twice");
}

int main(void) {
  fills_by_share_and_time();
  holds_no_more_than_its_cap();
  debt_is_bounded();
  refunds_raise_the_cap_until_spent();
  an_agent_that_began_anew_gives_nothing();
  garbage_stays_within_bounds();
  races_lose_nothing();
  return check_result();
}
