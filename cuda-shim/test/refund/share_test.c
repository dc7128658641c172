/* What an interval was worth, by hand: constants of the H200, slices of 2061 us, 205 us away from a running kernel, 135 back. */
#include "looks.h"

#define T 100000000 /* now, when a scene begins */

/* A 7.3 ms kernel that a 0.74 ms one interrupts at each time slice takes 10.54 ms: 3 times 0.205 + 0.74 + 0.135 are the others'. */
static void short_neighbours_are_theirs_alone(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 1, 0, T + 2266, 740);
  scene_post(s, 1, 0, T + 5407, 740);
  scene_post(s, 1, 0, T + 8548, 740);
  scene_post(s, 0, 0, T, 10540);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 3240, "the long one's refund");
  CHECK_EQ(scene_refund(s, 1), 0, "the short ones' refund");
  scene_end(s);
}

static void neighbours_that_follow_one_another_share_their_switches(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 1, 0, T + 2266, 600);
  scene_post(s, 2, 0, T + 3001, 740); /* 135 us later: straight on */
  scene_post(s, 0, 0, T, 9115);
  scene_look_at(s, T + 10000);
  CHECK_EQ(scene_refund(s, 0), 205 + 600 + 135 + 740 + 135, "the long one's refund");
  scene_end(s);
}

static void two_long_ones_share_what_switching_leaves(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 0, 0, T, 10000);
  scene_post(s, 1, 0, T, 10000);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 5550, "each had 44.5 %");
  CHECK_EQ(scene_refund(s, 1), 5550, "each had 44.5 %");
  scene_end(s);
}

static void three_share_in_thirds_and_only_while_they_overlap(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 0, 0, T, 30000);
  scene_post(s, 1, 0, T + 10000, 20000);
  scene_post(s, 2, 0, T + 20000, 10000);
  scene_look_at(s, T + 31000);
  /* alone 10 ms, by two 10 ms of which 4.45, by three, who lose 7.6 %, 9.24 / 3 */
  CHECK_EQ(scene_refund(s, 0), 30000 - 10000 - 4450 - 3080, "first");
  CHECK_EQ(scene_refund(s, 1), 20000 - 4450 - 3080, "second");
  CHECK_EQ(scene_refund(s, 2), 10000 - 3080, "third");
  scene_end(s);
}

/* The card leaves a long kernel at each slice anyway when two are in flight: a short one between costs the way back only. */
static void a_short_one_among_two_long_ones_costs_one_switch(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 0, 0, T, 20000);
  scene_post(s, 1, 0, T, 20000);
  scene_post(s, 2, 0, T + 8000, 740);
  scene_look_at(s, T + 21000);
  /* of 20000 - 740 - 135 = 19125 each had 44.5 %, 8510 and a bit */
  CHECK_EQ(scene_refund(s, 0), 20000 - 8510 - 1, "the refund");
  CHECK_EQ(scene_refund(s, 0), scene_refund(s, 1), "alike");
  scene_end(s);
}

/* As an H200 had it: the third kernel of 0.74 ms holds one turn of the long one's, which had 7.3 ms in all. */
static void a_short_one_stretched_by_a_turn(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 1, 0, T + 2216, 740);
  scene_post(s, 1, 0, T + 2956, 740);
  scene_post(s, 1, 0, T + 3696, 3208);
  scene_post(s, 1, 0, T + 6904, 740);
  scene_post(s, 0, 0, T, 11034);
  scene_look_at(s, T + 12000);
  CHECK_EQ(scene_refund(s, 1), 2061 + 205 + 135, "a turn and two switches");
  int64_t own = 11034 - scene_refund(s, 0);
  CHECK(own >= 7200 && own <= 7400, "of 7300 us the long one had %lld", (long long)own);
  scene_end(s);
}

/* It ends before its neighbour's turn could have fitted in. */
static void one_within_a_time_slice_was_not_interrupted(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 0, 0, T, 20000);
  scene_post(s, 1, 0, T + 3000, 2180);
  scene_look_at(s, T + 21000);
  CHECK_EQ(scene_refund(s, 1), 0, "its refund");
  scene_end(s);
}

/* What began and ended inside had the card in between, however short. It may have been so since it had the card before. */
static void a_sibling_inside_a_short_one_is_not_paid_twice(void) {
  struct scene *s = scene_begin(1);
  scene_post(s, 0, 0, T, 1500);
  scene_post(s, 0, 1, T + 2000, 740);
  scene_post(s, 0, 0, T + 1600, 1820);
  scene_look_at(s, T + 4000);
  CHECK_EQ(scene_refund(s, 0), 740 + 205 + 135, "the refund");
  scene_end(s);
}

/* A neighbour ends inside, and a third had two short ones before that. What the first of two had: 3.4 ms by the card's own account. */
static int64_t beside_one_that_ends_inside(bool fresh) {
  struct scene *s = scene_begin(3);
  if (!fresh) scene_post(s, 0, 0, T - 1000, 1000);
  scene_post(s, 1, 0, T - 2265, 2265 + 5487);
  scene_post(s, 2, 0, T + 2279, 927);
  scene_post(s, 2, 0, T + 3206, 812);
  scene_post(s, 0, 0, T, 6945);
  scene_look_at(s, T + 7000);
  int64_t own = 6945 - scene_refund(s, 0);
  scene_end(s);
  return own;
}

static void a_neighbour_that_ends_inside_had_what_the_others_leave(void) {
  int64_t fresh = beside_one_that_ends_inside(true), going_on = beside_one_that_ends_inside(false);
  CHECK(fresh >= 3300 && fresh <= 3600, "it came with a whole turn before it, and had %lld", (long long)fresh);
  CHECK_EQ(fresh - going_on, 2061 / 2, "it was in the middle of its turn");
}

/* No turn of a long neighbour fits in: it is not waited for. */
static void a_short_one_does_not_wait_for_a_long_neighbour(void) {
  struct scene *s = scene_begin(2);
  s->tenants[1].slots[0].open_since_ns = (uint64_t)(T - 500) * 1000;
  scene_post(s, 0, 0, T, 740);
  scene_look_at(s, T + 5000);
  CHECK_EQ(s->card->settled, 0, "one that had less to do may still be told of");
  scene_look_at(s, T + 11000);
  CHECK_EQ(s->card->settled, 1, "settled");
  scene_end(s);
}

static void a_kernel_of_several_turns_in_a_long_one(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 0, 0, T, 60000);
  scene_post(s, 1, 0, T + 10000, 1900); /* it has had the card */
  scene_post(s, 1, 0, T + 20000, 4000 + 2401);
  scene_post(s, 1, 0, T + 40000, 4000 + 2 * 2401);
  scene_look_at(s, T + 61000);
  CHECK_EQ(scene_refund(s, 1), 3 * 2401, "one turn, and two");
  scene_end(s);
}

static void alone_there_is_nothing_to_refund(void) {
  struct scene *s = scene_begin(2);
  for (int i = 0; i < 20; i++) {
    scene_post(s, 0, 0, T + 50000 * i, 50000);
    scene_look_at(s, T + 50000 * (i + 1));
  }
  CHECK_EQ(scene_refund(s, 0), 0, "refund");
  CHECK_EQ(s->card->settled, 20, "settled");
  scene_end(s);
}

static void processes_of_one_container_are_neighbours_too(void) {
  struct scene *s = scene_begin(1);
  scene_post(s, 0, 0, T, 10000);
  scene_post(s, 0, 1, T, 10000);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 11100, "both of it");
  scene_end(s);
}

static void a_neighbour_in_flight_is_waited_for_but_not_for_ever(void) {
  struct scene *s = scene_begin(2);
  s->tenants[1].slots[0].open_since_ns = (uint64_t)(T + 1000) * 1000;
  scene_post(s, 0, 0, T, 10000);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 0, "not yet");
  scene_post(s, 1, 0, T + 1000, 30000);
  s->tenants[1].slots[0].open_since_ns = 0;
  scene_look_at(s, T + 31000);
  CHECK_EQ(scene_refund(s, 0), 9000 - 4005, "once it is in");
  /* one that never ends */
  s->tenants[1].slots[0].open_since_ns = (uint64_t)(T + 40000) * 1000;
  scene_post(s, 0, 0, T + 40000, 10000);
  int64_t before = scene_refund(s, 0);
  scene_look_at(s, T + 50000 + 999000);
  CHECK_EQ(s->card->settled, 2, "waits");
  scene_look_at(s, T + 50000 + 1001000);
  CHECK_EQ(s->card->settled, 3, "settled after a second");
  CHECK_EQ(scene_refund(s, 0), before, "for what was known: nothing");
  scene_post(s, 0, 0, T + 1060000, 10000);
  scene_look_at(s, T + 1071000);
  CHECK_EQ(s->card->settled, 4, "nobody waits for it twice");
  scene_end(s);
}

static void others_active_are_processes_of_others_within_100_ms(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 0, 0, T, 1000);
  scene_post(s, 0, 1, T, 1000);
  scene_post(s, 1, 0, T, 1000);
  s->tenants[1].slots[3].open_since_ns = (uint64_t)T * 1000;
  scene_look_at(s, T + 2000);
  CHECK_EQ(refund_find(s->card, 1)->others_active, 2, "of the first");
  CHECK_EQ(refund_find(s->card, 2)->others_active, 2, "of the second");
  CHECK_EQ(refund_find(s->card, 3)->others_active, 4, "of the third");
  scene_look_at(s, T + 102000);
  CHECK_EQ(refund_find(s->card, 3)->others_active, 1, "later only the one in flight");
  scene_end(s);
}

/* A 50 ms kernel at 10 % is followed by nearly half a second without one: its container still wants the card. */
static void who_is_in_debt_is_active_until_it_may_launch_again(void) {
  struct scene *s = scene_begin(2);
  s->tenants[0].permille = 100;
  scene_post(s, 0, 0, T, 50000);
  s->tenants[0].bucket_ns = -40000000; /* 400 ms */
  scene_look_at(s, T + 51000);
  CHECK_EQ(refund_find(s->card, 2)->others_active, 1, "of the neighbour");
  s->tenants[0].bucket_ns = -10000000; /* 100 ms */
  scene_look_at(s, T + 240000);
  CHECK_EQ(refund_find(s->card, 2)->others_active, 1, "still");
  s->tenants[0].bucket_ns = 1;
  scene_look_at(s, T + 439000); /* in debt until 340 */
  CHECK_EQ(refund_find(s->card, 2)->others_active, 1, "it may launch at any moment");
  scene_look_at(s, T + 441000);
  CHECK_EQ(refund_find(s->card, 2)->others_active, 0, "it could have launched long ago");
  s->tenants[0].bucket_ns = INT64_MIN;
  scene_look_at(s, T + 2100000);
  CHECK_EQ(refund_find(s->card, 2)->others_active, 1, "for two seconds");
  scene_look_at(s, T + 2200000);
  CHECK_EQ(refund_find(s->card, 2)->others_active, 0, "and no more");
  scene_end(s);
}

int main(void) {
  who_is_in_debt_is_active_until_it_may_launch_again();
  short_neighbours_are_theirs_alone();
  neighbours_that_follow_one_another_share_their_switches();
  two_long_ones_share_what_switching_leaves();
  three_share_in_thirds_and_only_while_they_overlap();
  a_short_one_among_two_long_ones_costs_one_switch();
  alone_there_is_nothing_to_refund();
  a_short_one_stretched_by_a_turn();
  one_within_a_time_slice_was_not_interrupted();
  a_sibling_inside_a_short_one_is_not_paid_twice();
  a_neighbour_that_ends_inside_had_what_the_others_leave();
  a_short_one_does_not_wait_for_a_long_neighbour();
  a_kernel_of_several_turns_in_a_long_one();
  processes_of_one_container_are_neighbours_too();
  a_neighbour_in_flight_is_waited_for_but_not_for_ever();
  others_active_are_processes_of_others_within_100_ms();
  return check_result();
}
