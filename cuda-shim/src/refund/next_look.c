#include "next_look.h"

/* Of one process; those behind them wait for the same neighbours. */
enum { AWAITED = 16 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* GPU time that may be refunded of what a process has posted, if it had no more of each slice than `shortest`. */
static int64_t awaited(const struct refund_process *p, int64_t shortest) {
  int64_t sum = 0;
  uint64_t end = p->history.next - p->unsettled > AWAITED ? p->unsettled + AWAITED : p->history.next;
  for (uint64_t n = p->unsettled; p->known && n < end; n++) {
    const struct refund_span *s = &p->history.spans[n % REFUND_HISTORY];
    if (s->end - s->start > shortest) sum += s->end - s->start - shortest;
  }
  return sum;
}

/* Until the container could launch by a refund that it has not had yet. */
static int64_t of_container(const struct refund_container *c) {
  int64_t now = c->shortest_ns[0], before = c->shortest_ns[1];
  int64_t shortest = now == 0 ? before : before == 0 ? now : least(now, before);
  if (shortest == 0) return NEXT_LOOK_CALM_NS; /* nobody's turns were in its slices lately */
  int64_t sum = 0;
  for (uint32_t k = 0; k < VGPU_RING_SLOTS; k++) sum += awaited(&c->processes[k], shortest);
  /* one that ends right after this look */
  int64_t pause = shortest * VGPU_PERMILLE_FULL / c->share_permille;
  if (sum == 0) return pause;
  int64_t owed = -(c->bucket_ns + sum);
  return owed <= 0 ? 0 : least(pause, owed * VGPU_PERMILLE_FULL / c->share_permille);
}

/* Has something saved up and uses the card: it does not get through, and those beside it should not crowd together. */
static bool saves_at_work(const struct refund_container *c) {
  bool works = false;
  for (uint32_t k = 0; k < VGPU_RING_SLOTS; k++) works = works || (c->processes[k].known && c->processes[k].open_since != 0);
  return works && c->bucket_ns >= TURN_SAVED_NS;
}

static bool turns_press(const struct turn_card *turns) {
  bool press = turns->on;
  for (uint32_t i = 0; i < TURN_CONTAINERS; i++) {
    press = press || (turns->members[i].name != 0 && turns->members[i].backlogged_since != 0);
  }
  return press;
}

int64_t next_look_ns(const struct refund_card *card, const struct turn_card *turns) {
  if (turns_press(turns)) return NEXT_LOOK_SOON_NS;
  int64_t pause = NEXT_LOOK_CALM_NS;
  /* at the pace of this look, half a ring */
  if (card->posted != 0) pause = least(pause, card->passed_ns * (VGPU_RING_ENTRIES / 2) / card->posted);
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    const struct refund_container *c = &card->containers[i];
    if (c->name == 0) continue;
    pause = saves_at_work(c) ? 0 : least(pause, of_container(c));
  }
  return pause < NEXT_LOOK_SOON_NS ? NEXT_LOOK_SOON_NS : pause;
}
