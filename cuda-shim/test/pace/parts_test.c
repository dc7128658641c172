/* Policy, turns, intervals and the union of streams, by hand-computed values. */
#include "check.h"
#include "pace/cover.h"
#include "pace/interval.h"
#include "pace/turn.h"
#include "regions.h"

static const struct vgpu_limit balance = {
    .flags = VGPU_LIMIT_ACTIVE | VGPU_LIMIT_COMPUTE | VGPU_LIMIT_BALANCE, .core_hard_permille = 200, .core_soft_permille = 800};

static void lends_slowly_and_takes_back_at_once(void) {
  struct pace_policy p = {0, 0};
  struct pace_load load = {.known = true, .sample_ns = PACE_S};
  int64_t t = PACE_S;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, t).permille, 200, "the first look knows nothing of the past");
  for (; t <= PACE_S + 500 * PACE_MS; t += 50 * PACE_MS) {
    load.sample_ns = t;
    CHECK_EQ(pace_terms_now(&p, &balance, &load, t).permille, 200, "half a second alone first");
  }
  load.sample_ns = t = PACE_S + 750 * PACE_MS;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, t).permille, 500, "half way up");
  load.sample_ns = t = PACE_S + 1000 * PACE_MS;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, t).permille, 800, "the ceiling");
  load.others_active = 1;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, t + 1).permille, 200, "somebody is there");
  load.others_active = 0;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, t + 2).permille, 200, "and it begins anew");
}

static void lends_nothing_when_the_agent_is_silent(void) {
  struct pace_policy p = {PACE_S, 10 * PACE_S - PACE_MS};
  struct pace_load load = {.known = true, .sample_ns = 7 * PACE_S};
  CHECK_EQ(pace_terms_now(&p, &balance, &load, 10 * PACE_S).permille, 200, "its word is three seconds old");
  load.sample_ns = 0;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, 10 * PACE_S).permille, 200, "it never said anything");
  load.known = false;
  CHECK_EQ(pace_terms_now(&p, &balance, &load, 10 * PACE_S).permille, 200, "there is none");
}

static void terms_are_clamped(void) {
  struct pace_policy p = {0, 0};
  struct pace_load load = {.known = true};
  struct vgpu_limit l = {.flags = VGPU_LIMIT_COMPUTE, .core_hard_permille = 100};
  struct pace_terms t = pace_terms_now(&p, &l, &load, PACE_S);
  CHECK_EQ(t.cap_ns, 2 * PACE_MS, "20 ms at 10 %");
  CHECK_EQ(t.debt_ns, PACE_S, "10 s at 10 %");
  CHECK_EQ(t.runahead_ns, PACE_MS, "default");
  load.others_active = 2;
  CHECK_EQ(pace_terms_now(&p, &l, &load, PACE_S).cap_ns, 15 * PACE_MS, "150 ms at 10 % beside a neighbour");
  l = (struct vgpu_limit){.flags = VGPU_LIMIT_COMPUTE,
                          .core_hard_permille = UINT32_MAX,
                          .burst_us = UINT32_MAX,
                          .max_stall_ms = UINT32_MAX,
                          .runahead_us = UINT32_MAX};
  t = pace_terms_now(&p, &l, &load, PACE_S);
  CHECK(t.unlimited && t.permille == 1000, "more than all is all");
  CHECK_EQ(t.max_stall_ns, 60 * PACE_S, "no wait is longer");
  CHECK_EQ(t.runahead_ns, 20 * PACE_MS, "no slice is longer");
  l.core_hard_permille = 0;
  CHECK_EQ(pace_terms_now(&p, &l, &load, PACE_S).permille, 1, "nothing at all would be a hang");
  l.flags = 0;
  CHECK(pace_terms_now(&p, &l, &load, PACE_S).unlimited, "no compute limit");
}

static void streams_share_their_time(void) {
  struct pace_cover c = {.next = 0};
  CHECK_EQ(cover_add(&c, 100, 200), 100, "new");
  CHECK_EQ(cover_add(&c, 150, 180), 0, "inside");
  CHECK_EQ(cover_add(&c, 50, 120), 50, "settled later, begun earlier: the part before is new");
  CHECK_EQ(cover_add(&c, 200, 260), 60, "goes on");
  CHECK_EQ(cover_add(&c, 0, 300), 300 - 210, "around all: 50 to 260 are paid");
  CHECK_EQ(cover_add(&c, 500, 500), 0, "empty");
  for (int64_t i = 0; i < 3 * PACE_COVERS; i++) CHECK_EQ(cover_add(&c, 1000 + 10 * i, 1005 + 10 * i), 5, "apart");
  CHECK_EQ(cover_add(&c, 1000 + 10 * (3 * PACE_COVERS - 1), 1005 + 10 * (3 * PACE_COVERS - 1)), 0, "the newest are kept");
}

static struct vgpu_usage usage;

static void intervals_are_posted_and_doubted(void) {
  good_usage(&usage);
  memset(usage.rings, 0, sizeof usage.rings);
  struct pace_flight f = {.usage = &usage, .slot = 0};
  usage.slots[0].state = VGPU_SLOT_LIVE;
  for (int i = 0; i < VGPU_RING_ENTRIES + 2; i++) interval_post(&f, 1, PACE_S + i * PACE_MS, PACE_S + i * PACE_MS + 1499);
  CHECK_EQ(usage.rings[0].head, VGPU_RING_ENTRIES + 2, "ever posted");
  CHECK_EQ(usage.rings[0].entries[1].start_ns, PACE_S + (VGPU_RING_ENTRIES + 1) * PACE_MS,
           "the newest took the place of the second");
  CHECK_EQ(usage.rings[0].entries[1].length_us, 1, "rounded");
  CHECK_EQ(usage.rings[0].entries[1].device, 1, "device");
  struct pace_flight high = {.usage = &usage, .slot = VGPU_RING_SLOTS};
  interval_post(&high, 0, 1, 2000000);
  CHECK_EQ(usage.slots[VGPU_RING_SLOTS].open_since_ns, 0, "a slot without a ring writes nowhere");

  inflight_add(&f, 0, 1500);
  CHECK_EQ(usage.slots[0].inflight_us[0], 2, "rounded up");
  usage.slots[1].inflight_us[0] = UINT32_MAX;
  int64_t own;
  CHECK_EQ(inflight_sum(&f, 0, &own), 1500 + PACE_S, "a sibling counts for a second at most");
  CHECK_EQ(own, 1500, "ours");
  usage.slots[1].state = VGPU_SLOT_FREE;
  CHECK_EQ(inflight_sum(&f, 0, NULL), 1500, "a slot that is free counts for nothing");
  inflight_add(&f, 0, -1500);
  CHECK_EQ(usage.slots[0].inflight_us[0], 0, "finished");
}

static void slices_keep_to_their_turn(void) {
  struct pace_turn t = {0, 0, 0};
  struct pace_load load = {
      .known = true, .turn_period_ns = 40 * PACE_MS, .turn_offset_ns = PACE_S, .turn_length_ns = 20 * PACE_MS};
  int64_t room;
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 5 * PACE_MS, PACE_MS, PACE_MS, &room), 0, "inside");
  CHECK_EQ(room, 14 * PACE_MS, "20 less 5 gone, less 1 in flight");
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 25 * PACE_MS, 0, PACE_MS, &room), 15 * PACE_MS, "somebody else's");
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 19 * PACE_MS, PACE_MS / 2, PACE_MS, &room), 21 * PACE_MS, "would not end in time");
  CHECK_EQ(turn_wait(&t, &load, PACE_S - 10 * PACE_MS, 0, PACE_MS, &room), 10 * PACE_MS, "before the offset it counts as well");
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 41 * PACE_MS, 0, 50 * PACE_MS, &room), 0,
           "one too long for any turn opens where one begins");
  turn_ended(&t, &load, PACE_S + 41 * PACE_MS, PACE_S + 66 * PACE_MS);
  CHECK_EQ(t.overrun_ns, 6 * PACE_MS, "25 ms in a turn that had 19 left");
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 80 * PACE_MS, 0, PACE_MS, &room), 0, "the next turn");
  CHECK_EQ(room, 14 * PACE_MS, "is shorter by it");
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 120 * PACE_MS, 0, PACE_MS, &room), 0, "and the one after");
  CHECK_EQ(room, 20 * PACE_MS, "is whole again");
  load.turn_length_ns = 0;
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 25 * PACE_MS, 0, PACE_MS, &room), 0, "no turns");
  load.turn_length_ns = 50 * PACE_MS;
  CHECK_EQ(turn_wait(&t, &load, PACE_S + 45 * PACE_MS, 0, PACE_MS, &room), 0, "nor with a turn longer than the period");
}

static void a_load_that_is_written_for_ever_is_not_waited_for(void) {
  static struct vgpu_load load;
  good_load(&load);
  struct pace_load l = pace_load_read(&load, 0);
  CHECK(l.known && l.others_active == 3 && l.refund_ns == 123456789, "read");
  load.devices[0].seq = 3;
  CHECK(!pace_load_read(&load, 0).known, "odd for ever");
  CHECK(!pace_load_read(NULL, 0).known && !pace_load_read(&load, 16).known, "none");
}

int main(void) {
  lends_slowly_and_takes_back_at_once();
  lends_nothing_when_the_agent_is_silent();
  terms_are_clamped();
  streams_share_their_time();
  intervals_are_posted_and_doubted();
  slices_keep_to_their_turn();
  a_load_that_is_written_for_ever_is_not_waited_for();
  return check_result();
}
