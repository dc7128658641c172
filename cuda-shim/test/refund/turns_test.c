/* Turns begin when two are backlogged, are in proportion, are given up and end. */
#include "refund/turns.h"
#include "check.h"
#include "refund/util.h"

#define MS INT64_C(1000000)

static struct turn_card card;
static struct turn_look looks[3];
static struct turn out[3];
static int64_t now;

static void begin(void) {
  card = (struct turn_card){0};
  now = 100000 * MS;
  for (uint32_t i = 0; i < 3; i++) {
    looks[i] = (struct turn_look){.name = i + 1, .working = true, .permille = 300, .bucket_ns = 5 * MS, .longest_ns = MS};
  }
}

static void look(uint32_t count, int64_t ms) {
  for (int64_t i = 0; i < ms; i += 5) {
    now += 5 * MS;
    turn_plan(&card, looks, count, now, out);
  }
}

static void begin_after_a_while_of_backlog(void) {
  begin();
  look(2, 225);
  CHECK_EQ(out[0].length_us, 0, "not at once");
  look(2, 20);
  CHECK(out[0].length_us > 0 && out[1].length_us > 0, "both have one");
  CHECK_EQ(out[0].period_us, 80000, "the longest");
  CHECK_EQ(out[0].length_us + out[1].length_us, out[0].period_us, "the whole period");
  CHECK_EQ(out[0].offset_us, 0, "the first begins it");
  CHECK_EQ(out[1].offset_us, out[0].length_us, "the second follows");
}

static void none_while_nobody_has_saved_anything_up(void) {
  begin();
  looks[0].bucket_ns = MS;
  looks[1].bucket_ns = -MS;
  look(2, 1000);
  CHECK_EQ(out[0].length_us + out[1].length_us, 0, "turns");
}

/* One has its share, at the other's cost. */
static void one_that_does_not_get_through_is_enough(void) {
  begin();
  for (int i = 0; i < 60; i++) {
    looks[1].working = i % 3 == 0; /* else it waits until it may launch again */
    looks[1].bucket_ns = looks[1].working ? MS : -MS;
    look(2, 5);
  }
  CHECK(card.on, "turns");
}

/* A container that has never launched has an empty bucket, and so has one that is long done. */
static void none_beside_an_idle_one(void) {
  begin();
  looks[1].bucket_ns = 0;
  for (int i = 0; i < 400; i++) {
    looks[1].working = i == 100;
    look(2, 5);
    if (i > 100 && i <= 210) continue; /* it may still want more */
    CHECK(!card.on && out[0].length_us == 0, "a turn at look %d", i);
  }
}

/* A service that answers now and then saves up all the time, and would only wait for its turn. */
static void none_beside_one_that_works_now_and_then(void) {
  begin();
  for (int i = 0; i < 400; i++) {
    looks[1].working = i % 4 != 0;
    look(2, 5);
    CHECK(out[0].length_us + out[1].length_us == 0, "turns at look %d", i);
  }
}

static void in_proportion_to_the_limits(void) {
  begin();
  looks[0].permille = 100;
  looks[1].permille = 200;
  looks[2].permille = 500;
  look(3, 300);
  CHECK_EQ(out[0].period_us, 76800, "nine slices in the smallest");
  CHECK_EQ(out[0].length_us, 9600, "an eighth");
  CHECK_EQ(out[1].length_us, 19200, "a quarter");
  CHECK_EQ(out[2].length_us, 48000, "the rest");
}

/* Limits of 30 each leave 400 idle: the two that may borrow get 200 each. */
static void who_may_borrow_gets_of_what_is_idle(void) {
  begin();
  looks[0].borrows = looks[1].borrows = true;
  looks[0].permille = looks[1].permille = looks[2].permille = 200;
  look(3, 300);
  CHECK_EQ(out[0].length_us, out[0].period_us * 4 / 10, "borrower");
  CHECK_EQ(out[2].length_us, out[0].period_us * 2 / 10, "not");
}

static void the_period_follows_the_longest_slice(void) {
  begin();
  looks[0].longest_ns = 7300000;
  look(2, 300);
  CHECK_EQ(out[0].period_us, 2 * (5 * 7300 + 600), "five long slices, and what a turn needs beside them");
  begin();
  looks[0].longest_ns = looks[1].longest_ns = 100000;
  look(2, 300);
  CHECK_EQ(out[0].period_us, 20000, "short ones");
  looks[1].longest_ns = 220000;
  look(2, 5);
  CHECK_EQ(out[0].period_us, 20000, "does not tremble");
  look(2, 2000);
  CHECK_EQ(out[0].period_us, 21120, "but follows");
  looks[1].longest_ns = 400000;
  look(2, 5);
  CHECK_EQ(out[0].period_us, 38400, "at once, if it is far off");
}

/* The last of them does not fit: that is no sign of having nothing to do. */
static void what_does_not_fit_any_more_is_no_idleness(void) {
  begin();
  looks[0].longest_ns = 15 * MS;
  look(2, 300);
  for (int i = 0; i < 200; i++) {
    now += 5 * MS;
    int64_t at = (now / 1000 - out[0].offset_us) % out[0].period_us;
    looks[0].working = at < 16000; /* another one does not fit */
    looks[1].working = !looks[0].working;
    turn_plan(&card, looks, 2, now, out);
    CHECK(out[0].length_us > 0, "look %d", i);
  }
}

static void a_turn_without_work_is_given_up_and_taken_up_again(void) {
  begin();
  look(3, 300);
  looks[1].working = false;
  look(3, 85); /* more than a period: it was seen idle in its turn twice */
  CHECK_EQ(out[1].length_us, 0, "given up");
  CHECK_EQ(out[0].length_us + out[2].length_us, out[0].period_us, "the others have it");
  looks[1].working = true;
  look(3, 5);
  CHECK(out[1].length_us > 0, "taken up at the next look");
}

/* Who waits for its turn has nothing in flight: that is no idleness. */
static void waiting_for_the_turn_is_not_idle(void) {
  begin();
  look(2, 300);
  for (int i = 0; i < 200; i++) {
    now += 5 * MS;
    for (uint32_t k = 0; k < 2; k++) {
      int64_t at = (now / 1000 - out[k].offset_us) % out[k].period_us;
      looks[k].working = (at < 0 ? at + out[k].period_us : at) < out[k].length_us;
    }
    turn_plan(&card, looks, 2, now, out);
    CHECK(out[0].length_us > 0 && out[1].length_us > 0, "look %d", i);
  }
}

static void they_end_when_nobody_has_saved_anything_up_for_a_while(void) {
  begin();
  look(2, 300);
  looks[0].bucket_ns = looks[1].bucket_ns = MS;
  look(2, 400);
  CHECK(out[0].length_us > 0, "not at once");
  look(2, 200);
  CHECK_EQ(out[0].length_us, 0, "ended");
}

static void none_where_one_asks_for_latency(void) {
  begin();
  looks[1].latency = true;
  look(2, 400);
  CHECK_EQ(out[0].length_us, 0, "turns");
}

static void they_come_back_when_it_has_nothing_to_do(void) {
  begin();
  looks[2].latency = true;
  look(3, 400);
  CHECK_EQ(out[0].length_us, 0, "turns");
  looks[2].working = false;
  look(3, 400);
  CHECK_EQ(out[0].length_us, 0, "not at once");
  look(3, 105);
  CHECK(out[0].length_us > 0 && out[1].length_us > 0, "the others'");
  CHECK_EQ(out[2].length_us, 0, "its own");
  looks[2].working = true;
  look(3, 5);
  CHECK_EQ(out[0].length_us, 0, "ended at once");
}

static void a_container_that_is_gone_has_no_turn(void) {
  begin();
  look(3, 300);
  look(1, 5);
  CHECK_EQ(out[0].length_us, 0, "one alone");
}

static void utilisation_is_charged_time_of_the_last_second(void) {
  struct util util = {0};
  uint32_t permille = 0;
  uint64_t raw = 5000, refund = 0;
  for (int i = 0; i <= 400; i++) {
    permille = util_look(&util, 5 * MS * i, raw, refund);
    raw += (uint64_t)(2 * MS);
    refund += (uint64_t)MS / 2;
  }
  CHECK(permille >= 299 && permille <= 300, "got %u", permille);
  CHECK_EQ(util_look(&util, 5 * MS * 401, UINT64_MAX / 2, 0), 1000, "never more than the card");
  CHECK_EQ(util_look(&util, 5 * MS * 402, 0, 0), 0, "gone back");
}

int main(void) {
  begin_after_a_while_of_backlog();
  none_while_nobody_has_saved_anything_up();
  one_that_does_not_get_through_is_enough();
  none_beside_an_idle_one();
  none_beside_one_that_works_now_and_then();
  in_proportion_to_the_limits();
  who_may_borrow_gets_of_what_is_idle();
  the_period_follows_the_longest_slice();
  what_does_not_fit_any_more_is_no_idleness();
  a_turn_without_work_is_given_up_and_taken_up_again();
  waiting_for_the_turn_is_not_idle();
  they_end_when_nobody_has_saved_anything_up_for_a_while();
  none_where_one_asks_for_latency();
  they_come_back_when_it_has_nothing_to_do();
  a_container_that_is_gone_has_no_turn();
  utilisation_is_charged_time_of_the_last_second();
  return check_result();
}
