/*
 * Tenants write the rings. What one invents buys nothing for itself and nothing for a neighbour, and honest neighbours get
 * what they would have got without it.
 */
#include "looks.h"

#define T 100000000

/* The honest pair that every attack is played against: the second is interrupted three times by the first. Its refund. */
static int64_t honest(struct scene *s, int64_t at_us) {
  int64_t before = scene_refund(s, 1);
  scene_post(s, 0, 0, at_us + 2266, 740);
  scene_post(s, 0, 0, at_us + 5407, 740);
  scene_post(s, 0, 0, at_us + 8548, 740);
  scene_post(s, 1, 0, at_us, 10540);
  scene_look_at(s, at_us + 11000);
  return scene_refund(s, 1) - before;
}

static uint64_t dropped(const struct scene *s, enum refund_drop why) { return s->card->dropped[why]; }

static void long_intervals_that_nobody_paid_for(void) {
  struct scene *s = scene_begin(3);
  for (int i = 0; i < 50; i++) {
    scene_write(s, 2, 0, T + 11000 * i, 10900);
    scene_write(s, 2, 1, T + 11000 * i, 10900);
    CHECK_EQ(honest(s, T + 11000 * i), 3240, "the honest refund");
  }
  CHECK_EQ(scene_refund(s, 2), 0, "the inventor's");
  CHECK_EQ(dropped(s, REFUND_DROP_UNPAID), 100, "unpaid");
  scene_end(s);
}

/* Short ones, to make a present to a neighbour: no more than the slack of 5 ms, once. */
static void a_flood_of_unpaid_short_ones(void) {
  struct scene *s = scene_begin(3);
  int64_t sum = 0;
  for (int i = 0; i < 50; i++) {
    for (int k = 0; k < 100; k++) scene_write(s, 2, 0, T + 11000 * i + 100 * k, 90);
    sum += honest(s, T + 11000 * i);
  }
  CHECK_EQ(scene_refund(s, 2), 0, "the inventor's");
  CHECK(sum <= 50 * 3240 + 2 * 5000 + 340 * 2, "the neighbour got %lld", (long long)sum);
  scene_end(s);
}

/* Paid ones, tiny, as close as switches could be: no more than what a card can lose in switching. */
static void a_flood_of_tiny_paid_ones_is_worth_what_switching_can_cost(void) {
  struct scene *s = scene_begin(2);
  for (int k = 0; k < 110; k++) scene_post(s, 1, 0, T + 360 * k, 1);
  scene_post(s, 0, 0, T, 40000);
  scene_look_at(s, T + 41000);
  CHECK(scene_refund(s, 0) < 40000 * 3 / 10, "got %lld of 40000", (long long)scene_refund(s, 0));
  scene_end(s);
}

/* Intervals that look as if each held a turn of the long neighbour's: one turn for each time slice that one had oneself. */
static void interruptions_that_were_none(void) {
  struct scene *s = scene_begin(2);
  for (int i = 0; i < 40; i++) scene_post(s, 1, 0, T + 2450 * i, 2450);
  scene_post(s, 0, 0, T - 100, 98200);
  scene_look_at(s, T + 99000);
  CHECK(scene_refund(s, 1) > 0, "there is a neighbour");
  CHECK(scene_refund(s, 1) <= 98000 * 56 / 100, "got %lld of 98000", (long long)scene_refund(s, 1));
  scene_end(s);
}

/* A sibling's tiny intervals, paid, in each of one's own: a switch is believed once for each time slice. */
static void tiny_siblings_in_every_short_one(void) {
  struct scene *s = scene_begin(1);
  for (int i = 0; i < 100; i++) {
    scene_post(s, 0, 1, T + 1000 * i + 400, 10);
    scene_post(s, 0, 0, T + 1000 * i, 990);
    if (i % 10 == 9) scene_look_at(s, T + 1000 * (i + 1));
  }
  CHECK(scene_refund(s, 0) <= 99000 * 20 / 100, "got %lld of 99000", (long long)scene_refund(s, 0));
  scene_end(s);
}

/* A container that may have a tenth and says that it had everything, charged or not, is believed an eighth. */
static void more_than_a_container_may_have(void) {
  struct scene *s = scene_begin(2);
  s->tenants[1].permille = 100;
  int64_t believed_us = 0;
  for (int i = 0; i < 6000; i++) { /* 12 s */
    uint64_t before = s->card->accepted;
    scene_post(s, 1, 0, T + 2000 * i, 1990);
    scene_look_at(s, T + 2000 * (i + 1));
    believed_us += (int64_t)(s->card->accepted - before) * 1990;
  }
  CHECK(believed_us <= 12000000 * 145 / 1000 + 2000000 + 1990, "believed %lld us of 12 s", (long long)believed_us);
  CHECK(dropped(s, REFUND_DROP_BEYOND) > 4000, "dropped %llu", (unsigned long long)dropped(s, REFUND_DROP_BEYOND));
  scene_end(s);
}

static void times_that_cannot_be(void) {
  struct scene *s = scene_begin(3);
  s->tenants[2].raw_ns += 1000000000;
  scene_write(s, 2, 0, T + 50000, 10000);        /* future */
  scene_write(s, 2, 0, INT64_MAX / 1000, 10000); /* the end of time */
  scene_write(s, 2, 0, INT64_MIN / 1000, 10000); /* its beginning */
  scene_write(s, 2, 0, -5, 10000);
  scene_write(s, 2, 0, T - 3000000, 10000);     /* older than the window */
  scene_write(s, 2, 0, T, 0);                   /* nothing */
  scene_write(s, 2, 0, T - 20000000, 20000000); /* longer than any */
  scene_write(s, 2, 0, T - 5000000, UINT32_MAX);
  s->tenants[2].rings[0].entries[7].device = 5; /* no card of the container */
  CHECK_EQ(honest(s, T), 3240, "the honest refund");
  CHECK_EQ(s->card->accepted, 4, "only the honest ones are believed");
  CHECK_EQ(dropped(s, REFUND_DROP_FUTURE), 2, "future");
  CHECK_EQ(dropped(s, REFUND_DROP_OLD), 3, "old");
  CHECK_EQ(dropped(s, REFUND_DROP_LENGTH), 2, "length");
  CHECK_EQ(dropped(s, REFUND_DROP_DEVICE), 1, "device");
  scene_end(s);
}

static void intervals_that_overlap_themselves(void) {
  struct scene *s = scene_begin(3);
  for (int i = 0; i < 10; i++) scene_post(s, 2, 0, T + 100 * i, 10000);
  scene_post(s, 1, 0, T, 10000);
  scene_look_at(s, T + 12000);
  CHECK_EQ(dropped(s, REFUND_DROP_ORDER), 9, "order");
  CHECK_EQ(scene_refund(s, 2), 5550, "one of them counts");
  scene_end(s);
}

static void heads_that_jump(void) {
  struct scene *s = scene_begin(3);
  s->tenants[2].raw_ns += 100000000;
  uint64_t heads[] = {1000, 5, UINT64_MAX, 0, (uint64_t)1 << 40, 1, 123, 122};
  for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    s->tenants[2].rings[0].head = heads[i];
    CHECK_EQ(honest(s, T + 11000 * i), 3240, "the honest refund");
  }
  CHECK_EQ(scene_refund(s, 2), 0, "the jumper's");
  CHECK(dropped(s, REFUND_DROP_HEAD) >= 5, "heads dropped: %llu", (unsigned long long)dropped(s, REFUND_DROP_HEAD));
  scene_end(s);
}

/* A neighbour that always has something in flight, and never posts, delays a refund once, by a second. */
static void a_neighbour_that_never_ends(void) {
  struct scene *s = scene_begin(3);
  s->tenants[2].slots[0].open_since_ns = (uint64_t)(T - 1) * 1000;
  CHECK_EQ(honest(s, T), 0, "delayed");
  for (int i = 1; i < 200; i++) (void)honest(s, T + 11000 * i);
  CHECK_EQ(scene_refund(s, 1), 200 * 3240, "all of it came");
  scene_end(s);
}

/* Two processes that post whole seconds, paid and all, cannot take more out of the card than time has passed. */
static void what_is_refunded_and_what_is_charged_fit_into_the_wall_time(void) {
  struct scene *s = scene_begin(3);
  uint64_t seed = 1;
  for (int i = 0; i < 400; i++) {
    for (uint32_t t = 0; t < 3; t++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      scene_post(s, t, (uint32_t)(seed >> 33) % LOOK_PROCESSES, T + 25000 * i + (int64_t)((seed >> 40) % 3000),
                 (uint32_t)((seed >> 45) % 22000 + 1));
    }
    scene_look_at(s, T + 25000 * (i + 1) + 1000);
  }
  for (uint32_t t = 0; t < 3; t++) {
    CHECK(scene_refund(s, t) * 1000 <= (int64_t)s->tenants[t].raw_ns * 95 / 100, "more than 95 %% of what was posted");
  }
  CHECK(s->card->pot_ns <= REFUND_POT_NS && s->card->pot_ns >= -REFUND_POT_NS, "pot %lld", (long long)s->card->pot_ns);
  scene_end(s);
}

/* Garbage at speed, in everything a tenant can write. */
static void garbage_at_speed(void) {
  struct scene *s = scene_begin(3);
  uint64_t seed = 7;
  int64_t sum = 0;
  for (int i = 0; i < 300; i++) {
    unsigned char *bytes = (unsigned char *)s->tenants[2].rings;
    for (size_t k = 0; k < sizeof s->tenants[2].rings; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      bytes[k] = (unsigned char)(seed >> 56);
    }
    memcpy(s->tenants[2].slots, bytes, sizeof s->tenants[2].slots);
    s->tenants[2].raw_ns = seed;
    sum += honest(s, T + 11000 * i);
  }
  CHECK_EQ(sum, 300 * 3240, "the honest refund");
  CHECK_EQ(scene_refund(s, 2), 0, "the scribbler's");
  scene_end(s);
}

/* More containers than a ledger holds: those that are known go on. */
static void more_containers_than_room(void) {
  struct refund_card *card = calloc(1, sizeof *card);
  struct refund_look looks[REFUND_CONTAINERS + 8];
  static struct vgpu_usage_slot slot;
  static struct vgpu_ring ring;
  if (card == NULL) abort();
  refund_begin(card, gpu_model_of(NULL));
  for (uint32_t i = 0; i < REFUND_CONTAINERS + 8; i++)
    looks[i] = (struct refund_look){i + 1, 0, 1, 1000, 1, 0, 0, 0, &slot, &ring};
  refund_tick(card, looks, REFUND_CONTAINERS + 8, 1000000000);
  CHECK(refund_find(card, 1) != NULL, "the first");
  CHECK(refund_find(card, REFUND_CONTAINERS) != NULL, "the last with room");
  CHECK(refund_find(card, REFUND_CONTAINERS + 1) == NULL, "one too many");
  refund_tick(card, looks + 8, REFUND_CONTAINERS, 1005000000);
  CHECK(refund_find(card, 1) == NULL, "gone");
  CHECK(refund_find(card, REFUND_CONTAINERS + 8) != NULL, "in its place");
  free(card);
}

int main(void) {
  long_intervals_that_nobody_paid_for();
  a_flood_of_unpaid_short_ones();
  a_flood_of_tiny_paid_ones_is_worth_what_switching_can_cost();
  interruptions_that_were_none();
  tiny_siblings_in_every_short_one();
  more_than_a_container_may_have();
  times_that_cannot_be();
  intervals_that_overlap_themselves();
  heads_that_jump();
  a_neighbour_that_never_ends();
  what_is_refunded_and_what_is_charged_fit_into_the_wall_time();
  garbage_at_speed();
  more_containers_than_room();
  return check_result();
}
