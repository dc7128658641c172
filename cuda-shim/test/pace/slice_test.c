/*
 * Launches through the limiter, on a card and a clock that the test moves by hand: when slices open and close, what they cost,
 * when a launch waits and for how long, and what ends a wait.
 */
#include <stdlib.h>

#include "check.h"
#include "pace/fast.h"
#include "regions.h"

enum { EVENTS = 512, STREAM = 100, OTHER = 208 };
#define US INT64_C(1000)

/* A card with one queue: work takes the time it is told to, events happen when what is before them is done. */
static struct {
  int64_t now, idle_at; /* the card has nothing to do from then on */
  int64_t at[EVENTS];
  bool used[EVENTS];
  int records, sleeps, alive, reaped, events;
  int64_t slept;
  uint32_t multiprocessors;
  bool mps;
  bool stuck, lost, recording, refuse_record;
  pace_handle context;
  void (*on_sleep)(void);
} w;

static int64_t w_now(void *self) {
  (void)self;
  return w.now;
}
static void w_sleep(void *self, int64_t ns) {
  (void)self;
  w.now += ns;
  w.slept += ns;
  w.sleeps++;
  if (w.on_sleep != NULL) w.on_sleep();
}
static void w_wait(void *self, const uint32_t *word, uint32_t value, int64_t ns) {
  if (__atomic_load_n(word, __ATOMIC_RELAXED) == value) w_sleep(self, ns);
}
static pace_handle w_context(void *self) {
  (void)self;
  return w.context;
}
static pace_handle w_create(void *self) {
  (void)self;
  for (int i = 0; i < EVENTS; i++) {
    if (w.used[i]) continue;
    w.used[i] = true;
    w.events++;
    return (pace_handle)i + 1;
  }
  return 0;
}
static void w_destroy(void *self, pace_handle e) {
  (void)self;
  CHECK(w.used[e - 1], "an event is destroyed once");
  w.used[e - 1] = false;
  w.events--;
}
static bool w_record(void *self, pace_handle e, pace_handle stream) {
  (void)self;
  (void)stream;
  if (w.refuse_record) return false;
  w.records++;
  w.at[e - 1] = w.idle_at > w.now ? w.idle_at : w.now;
  return true;
}
static enum pace_reach w_query(void *self, pace_handle e) {
  (void)self;
  if (w.lost) return PACE_LOST;
  return !w.stuck && w.at[e - 1] <= w.now ? PACE_REACHED : PACE_AHEAD;
}
static enum pace_reach w_elapsed(void *self, pace_handle from, pace_handle to, int64_t *ns) {
  (void)self;
  *ns = w.at[to - 1] - w.at[from - 1];
  return PACE_REACHED;
}
static bool w_recording(void *self) {
  (void)self;
  return w.recording;
}
static bool w_capturing(void *self, pace_handle stream) {
  (void)self;
  return stream == PACE_LEGACY || (w.recording && stream == STREAM);
}
static int relaxed;
static int w_relax(void *self) {
  (void)self;
  relaxed++;
  return 7;
}
static void w_restore(void *self, int mode) {
  (void)self;
  CHECK_EQ(mode, 7, "the mode that was there");
  relaxed--;
}
static uint32_t w_multiprocessors(void *self, uint8_t device, bool *shared) {
  (void)self;
  (void)device;
  *shared = w.mps;
  return w.multiprocessors;
}
static void w_reap(void *self) {
  (void)self;
  w.reaped++;
}
static int w_thread(void *self) {
  (void)self;
  return 1;
}
static bool w_lives(void *self, int id) {
  (void)self;
  return id == w.alive;
}
static struct pace_world world(void) {
  return (struct pace_world){w_now,     w_sleep,           w_wait,    w_context,   w_create,    w_destroy,
                             w_record,  w_query,           w_elapsed, w_recording, w_capturing, w_relax,
                             w_restore, w_multiprocessors, w_reap,    w_thread,    w_lives,     NULL};
}

static struct vgpu_limits limits;
static struct vgpu_usage usage;
static struct vgpu_load load;
static struct vgpu_shared shared;
static struct pace_world the_world;
static struct pace *p;
static struct pace_thread *threads, *t;

static void begin(uint32_t permille, bool with_load) {
  memset(&w, 0, sizeof w);
  w.now = w.idle_at = 100 * PACE_S;
  w.context = 9;
  w.alive = 1;
  good_limits(&limits);
  good_usage(&usage);
  good_load(&load);
  memset(usage.rings, 0, sizeof usage.rings);
  usage.header.slot_high_water = 2;
  usage.devices[0] = (struct vgpu_usage_device){.bucket_ns = PACE_MS, .last_refill_ns = (uint64_t)w.now};
  usage.slots[0] = usage.slots[1] = (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE};
  load.devices[0] = (struct vgpu_load_device){.seq = 2, .sample_ns = (uint64_t)w.now};
  limits.devices[0].core_hard_permille = permille;
  shared = (struct vgpu_shared){
      .mode = VGPU_ACTIVE, .devices = 2, .limits = &limits, .usage = &usage, .load = with_load ? &load : NULL};
  the_world = world();
  free(p);
  free(threads);
  p = calloc(1, sizeof *p);
  threads = calloc(PACE_THREADS, sizeof *threads);
  if (p == NULL || threads == NULL) exit(9);
  pace_init(p, &the_world, &shared, 0, threads);
  t = pace_thread_claim(p);
}

/* One launch of a kernel. */
static void launch_on(pace_handle stream, const void *graph, int64_t ns) {
  struct pace_entry *e = NULL;
  if (graph != NULL || !pace_pass(t, stream)) e = pace_before(p, t, stream, 0, graph);
  w.idle_at = (w.idle_at > w.now ? w.idle_at : w.now) + ns;
  if (e != NULL) pace_after(p, t, e);
}
static void launch(int64_t ns) { launch_on(STREAM, NULL, ns); }
static void finish(void) {
  pace_pause(p, t);
  if (w.idle_at > w.now) w.now = w.idle_at;
}
static int64_t bucket(void) { return usage.devices[0].bucket_ns; }

static void a_launch_is_paid_by_what_it_took(void) {
  begin(1000, false); /* set to less below, so that the first slice is not free */
  limits.devices[0].core_hard_permille = 500;
  launch(740 * US);
  CHECK_EQ(w.records, 2, "the first slice is one launch, between two events");
  CHECK_EQ(usage.slots[0].inflight_us[0], 0, "nothing was known of it");
  CHECK_EQ(usage.slots[0].open_since_ns, 100 * PACE_S, "it is in flight since");
  finish();
  launch(740 * US);
  CHECK_EQ(usage.devices[0].raw_busy_ns, 740 * US, "paid when the next one opens");
  CHECK_EQ(bucket(), PACE_MS - 740 * US + 370 * US, "1 ms, less 0.74, and half of the time that has passed");
  CHECK_EQ(usage.rings[0].head, 1, "posted");
  CHECK_EQ(usage.rings[0].entries[0].length_us, 740, "its length");
  CHECK_EQ(usage.slots[0].inflight_us[0], 740, "the next is expected to take as long");
  CHECK_EQ(w.sleeps, 0, "the bucket was never empty");
}

static void slices_grow_to_a_millisecond(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  static const int expected[] = {1, 2, 4, 8, 10, 10}; /* of 100 us: twice the last, up to 1 ms */
  for (int i = 0; i < 6; i++) {
    int before = (int)t->numbers, launches = 0;
    do {
      launch(100 * US);
      launches++;
    } while (t->entries[pace_slot_of(STREAM)].open != NULL);
    CHECK_EQ((int)t->numbers, before + 1, "one slice");
    CHECK_EQ(launches, expected[i], "launches of it");
    finish();
  }
  int records = w.records;
  for (int i = 0; i < 9; i++) launch(100 * US);
  CHECK_EQ(w.records, records + 1, "in the middle of a slice nothing is recorded");
}

static void it_waits_exactly_for_what_is_missing(void) {
  begin(250, false);
  launch(10 * PACE_MS);
  finish();
  CHECK_EQ(w.now, 100 * PACE_S + 10 * PACE_MS, "10 ms ran");
  launch(10 * PACE_MS);
  /* 1 ms, plus 2.5 earned meanwhile, less 10 paid: 6.5 ms of debt at 25 % take 26 ms, looked at every 2 */
  CHECK(w.slept >= 26 * PACE_MS && w.slept < 28 * PACE_MS, "slept %lld", (long long)w.slept);
  CHECK(usage.devices[0].throttle_ns >= (uint64_t)(26 * PACE_MS), "counted");
  CHECK(w.sleeps <= 14, "at most 2 ms at a time: %d", w.sleeps);
}

static void give_refund(void) {
  load.devices[0].seq += 2;
  load.devices[0].refund_ns = (uint64_t)(50 * PACE_MS);
}
static void a_refund_wakes_it(void) {
  begin(100, true);
  launch(50 * PACE_MS);
  finish();
  w.on_sleep = give_refund;
  launch(PACE_MS);
  CHECK_EQ(w.sleeps, 1, "the second look finds the refund");
  CHECK(bucket() > 0, "and it is in the bucket: %lld", (long long)bucket());
}

static void raise_limit(void) {
  limits.devices[0].seq += 1;
  limits.devices[0].core_hard_permille = 900;
  limits.devices[0].seq += 1;
}
static void a_raised_limit_shortens_the_wait(void) {
  begin(10, false);
  launch(20 * PACE_MS);
  finish();
  w.on_sleep = raise_limit;
  launch(PACE_MS);
  CHECK(w.slept < 40 * PACE_MS, "19 ms of debt at 1 %% would be 1.9 s, at 90 %% they are 21 ms: slept %lld",
        (long long)w.slept);
}

static void no_more_than_two_are_unfinished(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  for (int i = 0; i < 3; i++) launch(5 * PACE_MS);
  CHECK(w.now >= 100 * PACE_S + 5 * PACE_MS, "the third waits for the first");
  CHECK(w.now < 100 * PACE_S + 5 * PACE_MS + 300 * US, "and not much longer: %lld", (long long)(w.now - 100 * PACE_S));
  CHECK_EQ(t->entries[pace_slot_of(STREAM)].unfinished, 2, "two");
}

static void waits_end(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  limits.devices[0].max_stall_ms = 1000;
  w.stuck = true;
  launch(PACE_MS);
  launch(PACE_MS);
  launch(PACE_MS);
  int64_t waited = w.now - 100 * PACE_S;
  CHECK(waited >= PACE_S && waited < PACE_S + 10 * PACE_MS, "nothing else unfinished: max_stall, waited %lld",
        (long long)waited);
  int64_t from = w.now;
  launch_on(OTHER, NULL, PACE_MS);
  launch_on(OTHER, NULL, PACE_MS);
  launch_on(OTHER, NULL, PACE_MS);
  waited = w.now - from;
  CHECK(waited >= 50 * PACE_MS && waited < 60 * PACE_MS, "others may wait for this launch: 50 ms, waited %lld",
        (long long)waited);
  from = w.now;
  usage.devices[0].bucket_ns = -3 * PACE_S;
  limits.devices[0].core_hard_permille = 1;
  launch_on(512, NULL, PACE_MS);
  waited = w.now - from;
  CHECK(waited >= 9 * PACE_S / 10 && waited < PACE_S + 10 * PACE_MS, "tokens: no debt takes longer than max_stall, waited %lld",
        (long long)waited);
  w.stuck = false;
}

static void a_pause_of_the_host_is_not_paid(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  for (int i = 0; i < 15; i++) {
    launch(100 * US);
    if (t->entries[pace_slot_of(STREAM)].open == NULL) finish();
  }
  finish();
  launch(PACE_MS); /* pays what came before; opens a slice of ten */
  int64_t paid = (int64_t)usage.devices[0].raw_busy_ns;
  CHECK_EQ(paid, 1500 * US, "fifteen launches");
  w.now = w.idle_at + 50 * PACE_MS; /* the program does something else, without waiting for the card */
  pace_pause(p, t);
  launch(100 * US);
  paid = (int64_t)usage.devices[0].raw_busy_ns - paid;
  CHECK_EQ(paid, 100 * US, "what a launch usually takes, not 51 ms");
}

static void graphs_are_slices_of_their_own(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  static const int graph = 0;
  launch(100 * US);
  finish();
  launch(100 * US); /* opens a slice of two */
  uint64_t before = t->numbers;
  launch_on(STREAM, &graph, 3 * PACE_MS);
  CHECK_EQ(t->numbers, before + 1, "the graph's own");
  finish();
  launch(100 * US);
  CHECK_EQ(t->entries[pace_slot_of(STREAM)].graph_mean_ns, 3 * PACE_MS, "measured, whatever is in it");
  CHECK_EQ(t->entries[pace_slot_of(STREAM)].mean_ns, 100 * US, "and kernels keep theirs");
}

static void nothing_touches_a_stream_that_is_recorded(void) {
  begin(500, false);
  launch(100 * US);
  finish();
  w.recording = true;
  int records = w.records;
  for (int i = 0; i < 5; i++) {
    launch_on(STREAM, NULL, 0);
    launch_on(PACE_LEGACY, NULL, 0);
  }
  CHECK_EQ(w.records, records, "no event");
  CHECK_EQ(w.sleeps, 0, "no sleep");
  launch_on(OTHER, NULL, 100 * US);
  CHECK(w.records > records, "others are measured");
  CHECK_EQ(relaxed, 0, "and the thread's mode is as before");
}

static void what_goes_is_buried(void) {
  begin(900, false);
  usage.devices[0].bucket_ns = 18 * PACE_MS;
  for (int i = 0; i < 3; i++) {
    launch(100 * US);
    finish();
  }
  launch(100 * US);
  CHECK(t->entries[pace_slot_of(STREAM)].open != NULL, "a slice is open");
  int records = w.records;
  pace_stream_gone(p, STREAM);
  CHECK_EQ(w.records, records + 1, "it ends with its stream");
  CHECK_EQ(t->entries[pace_slot_of(STREAM)].key, 0, "whose place is free");
  launch_on(OTHER, NULL, 100 * US);
  pace_context_gone(p, 9);
  CHECK_EQ(p->unfinished, 0, "nothing is in flight");
  CHECK_EQ(usage.slots[0].inflight_us[0], 0, "nor shown to be");
  CHECK_EQ(w.events, 0, "all events are destroyed");
  launch(100 * US);
  finish();
  launch(100 * US);
  CHECK_EQ(p->contexts_used, 1, "a context of the same handle begins anew");
}

static void errors_that_stick_stop_the_measuring(void) {
  begin(500, false);
  launch(100 * US);
  w.lost = true;
  finish();
  launch(100 * US);
  int records = w.records;
  for (int i = 0; i < 5; i++) launch(100 * US);
  CHECK_EQ(w.records, records, "launches are only forwarded");
  CHECK_EQ(p->unfinished, 0, "nothing is waited for");
  begin(500, false);
  w.refuse_record = true;
  launch(100 * US);
  CHECK_EQ(usage.devices[0].internal_errors, 1, "counted");
  CHECK_EQ(p->unfinished, 0, "passed unmeasured");
}

static void a_dead_thread_leaves_nothing_in_flight(void) {
  begin(500, false);
  for (int i = 0; i < 3; i++) {
    launch(100 * US);
    finish();
  }
  launch(100 * US);
  CHECK(p->unfinished > 0, "something is open");
  w.alive = 0;
  w.now += PACE_S;
  pace_sweep(p, w.now);
  CHECK_EQ(p->unfinished, 0, "swept");
  CHECK_EQ(threads[0].id, 0, "its block is free");
  CHECK_EQ(usage.slots[0].open_since_ns, 0, "nothing is open");
}

static void siblings_in_flight_are_left_room(void) {
  begin(500, false);
  usage.slots[1].inflight_us[0] = 5000;
  usage.devices[0].bucket_ns = 2 * PACE_MS;
  launch(100 * US);
  CHECK(w.slept >= 6 * PACE_MS && w.slept < 9 * PACE_MS, "3 ms are missing at 50 %%: slept %lld", (long long)w.slept);
  CHECK(w.reaped >= 1, "and it is asked whether that sibling lives");
}

static void a_free_limit_costs_no_slice(void) {
  begin(1000, false);
  for (int i = 0; i < 600; i++) launch(PACE_MS);
  CHECK_EQ(w.records, 0, "nothing recorded");
  CHECK_EQ(w.sleeps, 0, "nothing waited for");
}

/* ---- a card that MPS partitions: 25 % of 132 */

static void begin_partitioned(uint32_t multiprocessors) {
  begin(250, true);
  limits.devices[0].flags |= VGPU_LIMIT_MPS;
  limits.devices[0].sm_count = 132;
  w.multiprocessors = multiprocessors;
  w.mps = true;
}

static void a_part_of_the_multiprocessors_needs_no_pacing(void) {
  begin_partitioned(32);
  for (int i = 0; i < 300; i++) launch(10 * PACE_MS);
  CHECK_EQ(w.records, 0, "nothing recorded");
  CHECK_EQ(w.sleeps, 0, "nothing waited for");
  CHECK_EQ(usage.devices[0].internal_errors, 0, "nothing to tell");
}

/* Percent of the time that kernels of 10 ms ran, one after the other. */
static int ran(int kernels) {
  int64_t from = w.now;
  for (int i = 0; i < kernels; i++) {
    launch(10 * PACE_MS);
    finish();
  }
  return (int)(kernels * 10 * PACE_MS * 100 / (w.now - from));
}

static void more_than_its_part_is_paced_by_time(void) {
  static const uint32_t had[] = {34, 66, 132, 0 /* the driver does not say */};
  for (int i = 0; i < 4; i++) {
    begin_partitioned(had[i]);
    int percent = ran(100);
    CHECK(percent >= 24 && percent <= 26, "%u multiprocessors at 25 %%: ran for %d %%", had[i], percent);
    CHECK_EQ(usage.devices[0].internal_errors, 1, "counted once");
  }
  begin_partitioned(32);
  limits.devices[0].sm_count = 0;
  CHECK(ran(100) <= 26, "a card of which nobody knows how many it has");
  begin_partitioned(33);
  CHECK_EQ(ran(10), 100, "exactly the share");
}

static void what_a_context_once_had_is_not_forgotten(void) {
  begin_partitioned(32);
  CHECK_EQ(ran(40), 100, "its part");
  w.multiprocessors = 132; /* another context, made with the variable changed */
  (void)ran(40);
  w.multiprocessors = 32;
  CHECK(ran(100) <= 26, "paced from then on, whichever context launches");
}

static void all_processes_of_a_container_have_the_time_of_one(void) {
  begin_partitioned(32);
  load.devices[0].turn_period_us = 40000; /* nobody's turn matters where all run at once */
  load.devices[0].turn_length_us = 1;
  usage.slots[1].bytes[0] = 1;
  usage.slots[1].inflight_us[0] = 5000;
  launch(10 * PACE_MS);
  CHECK(w.records > 0, "measured beside a sibling");
  CHECK(w.slept >= 3 * PACE_MS && w.slept <= 6 * PACE_MS, "at the rate of the clock: slept %lld", (long long)w.slept);
  begin_partitioned(32);
  usage.slots[1] = (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE};
  launch(10 * PACE_MS);
  CHECK_EQ(w.records, 0, "one that has nothing on the card is none");
}

static void refunds_are_for_those_who_take_turns(void) {
  for (int mps = 0; mps < 2; mps++) {
    begin_partitioned(132);
    w.mps = mps != 0;
    launch(100 * PACE_MS);
    finish();
    load.devices[0].refund_ns = (uint64_t)(50 * PACE_MS);
    launch(PACE_MS);
    CHECK_EQ(usage.devices[0].refund_taken_ns, mps != 0 ? 0 : 50 * PACE_MS, "taken only by who is no client of MPS");
  }
}

static void the_flag_may_come_and_go(void) {
  begin_partitioned(32);
  CHECK_EQ(ran(40), 100, "in space");
  limits.devices[0].flags &= ~VGPU_LIMIT_MPS;
  (void)ran(40);
  CHECK(ran(100) <= 26, "in time");
  limits.devices[0].flags |= VGPU_LIMIT_MPS;
  (void)ran(2);
  CHECK_EQ(ran(40), 100, "and in space again");
  limits.devices[0].core_hard_permille = 100;
  (void)ran(40);
  CHECK(ran(100) <= 11, "a limit that was lowered is less than the part it has");
}

int main(void) {
  a_launch_is_paid_by_what_it_took();
  slices_grow_to_a_millisecond();
  it_waits_exactly_for_what_is_missing();
  a_refund_wakes_it();
  a_raised_limit_shortens_the_wait();
  no_more_than_two_are_unfinished();
  waits_end();
  a_pause_of_the_host_is_not_paid();
  graphs_are_slices_of_their_own();
  nothing_touches_a_stream_that_is_recorded();
  what_goes_is_buried();
  errors_that_stick_stop_the_measuring();
  a_dead_thread_leaves_nothing_in_flight();
  siblings_in_flight_are_left_room();
  a_free_limit_costs_no_slice();
  a_part_of_the_multiprocessors_needs_no_pacing();
  more_than_its_part_is_paced_by_time();
  what_a_context_once_had_is_not_forgotten();
  all_processes_of_a_container_have_the_time_of_one();
  refunds_are_for_those_who_take_turns();
  the_flag_may_come_and_go();
  free(p);
  free(threads);
  return check_result();
}
