/*
 * The pairs that were measured on an H200, in a model of its time-slicer: each container gets its share with refunds, and
 * much less without. Deterministic.
 */
#include "slicer.h"
#include "check.h"

enum { BATCH = 610, SHORT = 740, MIDDLE = 7300, LONG = 50000 };

static struct refund_card card;
static uint32_t shares[SIM_TENANTS];

struct tenant {
  int32_t kernel_us;
  uint32_t permille;
};

static void run(bool refunds, uint32_t count, const struct tenant *tenants) {
  struct sim *s = calloc(1, sizeof *s);
  if (s == NULL) abort();
  s->card = &card;
  s->count = count;
  s->refunds = refunds;
  for (uint32_t i = 0; i < count; i++) {
    s->tenants[i].kernel_us = tenants[i].kernel_us;
    s->tenants[i].permille = tenants[i].permille;
  }
  sim_run(s, 14, shares);
  free(s);
}

static int off(uint32_t i, const struct tenant *tenants) { return abs((int)shares[i] - (int)tenants[i].permille); }

static int sum_of_errors, cells, worst;

/* Each within `most` permille of its limit. */
static void each_gets_its_share(uint32_t count, const struct tenant *tenants, int most) {
  run(true, count, tenants);
  for (uint32_t i = 0; i < count; i++) {
    int error = off(i, tenants);
    CHECK(error <= most, "%u permille with kernels of %d us got %u, among %u", tenants[i].permille, tenants[i].kernel_us,
          shares[i], count);
    sum_of_errors += error;
    cells++;
    if (error > worst) worst = error;
  }
  for (int i = 0; i < REFUND_DROPS; i++) CHECK_EQ(card.dropped[i], 0, "honest intervals that were dropped");
  CHECK_EQ(card.clipped_ns, 0, "refunds for which there was no time left");
}

static void pairs_of_25_and_50(void) {
  static const int32_t lengths[] = {BATCH, SHORT, MIDDLE, LONG};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 4; k++) {
      struct tenant pair[] = {{lengths[i], 250}, {lengths[k], 500}};
      each_gets_its_share(2, pair, 13);
    }
  }
}

static void four_of_20_one_of_each_length(void) {
  struct tenant four[] = {{BATCH, 200}, {SHORT, 200}, {MIDDLE, 200}, {LONG, 200}};
  each_gets_its_share(4, four, 10);
}

static void without_refunds_long_ones_lose_a_third(void) {
  struct tenant pair[] = {{LONG, 250}, {SHORT, 500}}, four[] = {{BATCH, 200}, {SHORT, 200}, {MIDDLE, 200}, {LONG, 200}};
  run(false, 2, pair);
  CHECK(shares[0] < 200, "got %u", shares[0]);
  run(false, 4, four);
  CHECK(shares[2] < 150 && shares[3] < 150, "got %u and %u", shares[2], shares[3]);
}

/* Between limits of which the sum is what the card can do. */
static void other_pairs(void) {
  struct tenant a[] = {{LONG, 100}, {SHORT, 600}}, b[] = {{MIDDLE, 500}, {LONG, 300}}, c[] = {{LONG, 500}, {BATCH, 250}};
  each_gets_its_share(2, a, 13);
  each_gets_its_share(2, b, 13);
  each_gets_its_share(2, c, 13);
}

int main(void) {
  pairs_of_25_and_50();
  four_of_20_one_of_each_length();
  other_pairs();
  (void)printf("mean error %d.%d permille, worst %d\n", sum_of_errors / cells, sum_of_errors * 10 / cells % 10, worst);
  CHECK(sum_of_errors <= 4 * cells, "mean error above 4 permille");
  without_refunds_long_ones_lose_a_third();
  return check_result();
}
