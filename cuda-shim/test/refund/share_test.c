/* What a long interval was worth, by hand: constants of the H200, 225 us away from a running kernel, 125 back, 14 % lost. */
#include "looks.h"

#define T 100000000 /* now, when a scene begins */

/* A 7.3 ms kernel that a 0.74 ms one interrupts at each time slice takes 10.57 ms: 3 times 0.225 + 0.74 + 0.125 are the others'. */
static void short_neighbours_are_theirs_alone(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 1, 0, T + 2225, 740);
  scene_post(s, 1, 0, T + 5315, 740);
  scene_post(s, 1, 0, T + 8405, 740);
  scene_post(s, 0, 0, T, 10570);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 3270, "the long one's refund");
  CHECK_EQ(scene_refund(s, 1), 0, "the short ones' refund");
  scene_end(s);
}

static void neighbours_that_follow_one_another_share_their_switches(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 1, 0, T + 2225, 600);
  scene_post(s, 2, 0, T + 2950, 740); /* 125 us later: straight on */
  scene_post(s, 0, 0, T, 9115);
  scene_look_at(s, T + 10000);
  CHECK_EQ(scene_refund(s, 0), 225 + 600 + 125 + 740 + 125, "the long one's refund");
  scene_end(s);
}

static void two_long_ones_share_what_switching_leaves(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 0, 0, T, 10000);
  scene_post(s, 1, 0, T, 10000);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 5700, "each had 43 %");
  CHECK_EQ(scene_refund(s, 1), 5700, "each had 43 %");
  scene_end(s);
}

static void three_share_in_thirds_and_only_while_they_overlap(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 0, 0, T, 30000);
  scene_post(s, 1, 0, T + 10000, 20000);
  scene_post(s, 2, 0, T + 20000, 10000);
  scene_look_at(s, T + 31000);
  /* alone 10 ms, by two 10 ms of which 4.3, by three 10 ms of which 8.6 / 3 */
  CHECK_EQ(scene_refund(s, 0), 30000 - 10000 - 4300 - 2866 - 1, "first"); /* rounded down at each step */
  CHECK_EQ(scene_refund(s, 1), 20000 - 4300 - 2866 - 1, "second");
  CHECK_EQ(scene_refund(s, 2), 10000 - 2866 - 1, "third");
  scene_end(s);
}

/* The card leaves a long kernel at each slice anyway when two are in flight: a short one between costs the way back only. */
static void a_short_one_among_two_long_ones_costs_one_switch(void) {
  struct scene *s = scene_begin(3);
  scene_post(s, 0, 0, T, 20000);
  scene_post(s, 1, 0, T, 20000);
  scene_post(s, 2, 0, T + 8000, 740);
  scene_look_at(s, T + 21000);
  /* of 20000 - 740 - 125 = 19135 each had 43 %, 8228 and a bit */
  CHECK_EQ(scene_refund(s, 0), 20000 - 8228 - 1, "the refund");
  CHECK_EQ(scene_refund(s, 0), scene_refund(s, 1), "alike");
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

static void short_intervals_get_nothing_back(void) {
  struct scene *s = scene_begin(2);
  scene_post(s, 0, 0, T, 3000);
  scene_post(s, 1, 0, T, 3000);
  scene_look_at(s, T + 4000);
  CHECK_EQ(scene_refund(s, 0) + scene_refund(s, 1), 0, "refunds");
  scene_end(s);
}

static void processes_of_one_container_are_neighbours_too(void) {
  struct scene *s = scene_begin(1);
  scene_post(s, 0, 0, T, 10000);
  scene_post(s, 0, 1, T, 10000);
  scene_look_at(s, T + 11000);
  CHECK_EQ(scene_refund(s, 0), 11400, "both of it");
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
  CHECK_EQ(scene_refund(s, 0), 9000 - 3870, "once it is in");
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
  short_intervals_get_nothing_back();
  processes_of_one_container_are_neighbours_too();
  a_neighbour_in_flight_is_waited_for_but_not_for_ever();
  others_active_are_processes_of_others_within_100_ms();
  return check_result();
}
