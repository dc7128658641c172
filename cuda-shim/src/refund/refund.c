#include "refund.h"

#include <string.h>

/* A container's own share, a little more than its limit: what it is entitled to must never look like too much. */
enum { SHARE_OVER_PERMILLE = 1250, SHARE_ADDED_PERMILLE = 20, FULL = VGPU_PERMILLE_FULL };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

void refund_begin(struct refund_card *card, const struct gpu_model *model) {
  memset(card, 0, sizeof *card);
  card->model = model;
}

const struct refund_container *refund_find(const struct refund_card *card, uint64_t name) {
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    if (name != 0 && card->containers[i].name == name) return &card->containers[i];
  }
  return NULL;
}

/* Null if there are too many. What it was charged before is not paid for what it posts from now on. */
static struct refund_container *find_or_add(struct refund_card *card, uint64_t name, uint64_t raw_busy_ns) {
  struct refund_container *unused = NULL;
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    struct refund_container *c = &card->containers[i];
    if (c->name == name) return c;
    if (c->name == 0 && unused == NULL) unused = c;
  }
  if (unused != NULL) {
    memset(unused, 0, sizeof *unused);
    unused->name = name;
    unused->raw_busy_ns = raw_busy_ns;
    unused->paid_ns = REFUND_PAID_SLACK_NS;
    unused->share_ns = REFUND_SHARE_CAP_NS / 2;
  }
  return unused;
}

void refund_adopt(struct refund_card *card, uint64_t name, uint64_t refund_ns, uint64_t raw_busy_ns) {
  struct refund_container *c = name == 0 ? NULL : find_or_add(card, name, raw_busy_ns);
  if (c != NULL && refund_ns > c->refund_ns) c->refund_ns = refund_ns;
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

/* The container's balances of what was paid and what it may have, brought to this look. */
static void refill(struct refund_container *c, const struct refund_look *look, int64_t passed_ns) {
  uint64_t grown = look->raw_busy_ns - c->raw_busy_ns;
  c->raw_busy_ns = look->raw_busy_ns;
  /* gone back or leapt: somebody writes what he likes there, and is believed nothing of it */
  if (grown <= (uint64_t)(REFUND_LENGTH_MAX_NS * VGPU_RING_SLOTS)) c->paid_ns += (int64_t)grown;
  c->paid_ns = least(c->paid_ns, REFUND_LENGTH_MAX_NS + REFUND_S);
  int64_t permille = least(look->share_permille, FULL) * SHARE_OVER_PERMILLE / FULL + SHARE_ADDED_PERMILLE;
  c->share_ns = least(c->share_ns + passed_ns * permille / FULL, REFUND_SHARE_CAP_NS);
}

/* A container in debt uses the card as far as it may: one whose long kernels are far apart is not idle between them. */
static int64_t debt_time(const struct refund_look *look) {
  int64_t owed = -most(look->bucket_ns, -REFUND_DEBT_MAX_NS);
  if (owed <= 0) return 0;
  return least(owed * FULL / most(least(look->share_permille, FULL), 1), REFUND_DEBT_MAX_NS);
}

static void append(struct refund_card *card, struct refund_process *p, struct refund_span span) {
  struct refund_history *h = &p->history;
  if (h->next - h->first == REFUND_HISTORY) h->first++;
  if (p->unsettled < h->first) {
    p->unsettled = h->first;
    card->dropped[REFUND_DROP_LATE]++;
  }
  h->spans[h->next++ % REFUND_HISTORY] = span;
}

/* Returns REFUND_DROPS if the interval counts. It is of this card. */
static enum refund_drop take(struct refund_card *card, struct refund_container *c, struct refund_process *p,
                             const struct vgpu_interval *e, int64_t offset_ns, int64_t now_ns) {
  int64_t length = (int64_t)e->length_us * 1000;
  if (length == 0 || length > REFUND_LENGTH_MAX_NS) return REFUND_DROP_LENGTH;
  /* compared before anything is added: it may be any number */
  if (e->start_ns > now_ns + offset_ns + REFUND_FUTURE_NS - length) return REFUND_DROP_FUTURE;
  if (e->start_ns < now_ns + offset_ns - REFUND_WINDOW_NS - length) return REFUND_DROP_OLD;
  struct refund_span span = {e->start_ns - offset_ns, e->start_ns - offset_ns + length};
  if (span.start < p->last_end) {
    if (p->last_end - span.start > REFUND_TOUCH_NS || span.end <= p->last_end) return REFUND_DROP_ORDER;
    span.start = p->last_end;
  }
  length = span.end - span.start;
  if (c->paid_ns < length) return REFUND_DROP_UNPAID;
  if (c->share_ns <= 0) return REFUND_DROP_BEYOND;
  c->paid_ns -= length;
  if (length <= refund_whole_ns(card->model)) { /* taken for its own until it is settled */
    c->share_ns -= length;
    card->pot_ns = most(card->pot_ns - length, -REFUND_POT_NS);
    c->longest_ns[0] = most(c->longest_ns[0], length);
  }
  p->last_end = span.end;
  append(card, p, span);
  return REFUND_DROPS;
}

static void read_ring(struct refund_card *card, struct refund_container *c, struct refund_process *p,
                      const struct refund_look *look, const struct vgpu_ring *ring, int64_t now_ns) {
  uint64_t posted = ring->head - p->head;
  if (posted == 0) return;
  if (posted > card->posted) card->posted = posted > VGPU_RING_ENTRIES ? VGPU_RING_ENTRIES : (uint32_t)posted;
  p->overdue = false;
  if (posted > VGPU_RING_ENTRIES) {
    card->dropped[REFUND_DROP_HEAD]++;
    if (ring->head < p->head || posted > UINT32_MAX) { /* nonsense: begin anew at what it says */
      p->head = ring->head;
      return;
    }
    p->head = ring->head - VGPU_RING_ENTRIES;
  }
  for (; p->head != ring->head; p->head++) {
    const struct vgpu_interval *e = &ring->entries[p->head % VGPU_RING_ENTRIES];
    if (e->device != look->device) {
      if (e->device >= look->device_count) card->dropped[REFUND_DROP_DEVICE]++;
      continue; /* another ledger's */
    }
    enum refund_drop why = take(card, c, p, e, look->offset_ns, now_ns);
    if (why == REFUND_DROPS) {
      card->accepted++;
    } else {
      card->dropped[why]++;
    }
  }
}

static void read_process(struct refund_card *card, struct refund_container *c, const struct refund_look *look, uint32_t k,
                         int64_t now_ns) {
  struct refund_process *p = &c->processes[k];
  const struct vgpu_usage_slot *slot = &look->slots[k];
  const struct vgpu_ring *ring = &look->rings[k];
  if (!p->known || p->generation != slot->generation) {
    bool first = !p->known;
    p->known = true;
    p->generation = slot->generation;
    p->overdue = false;
    p->open_since = 0;
    if (first) p->head = ring->head; /* what was there before us is not ours to judge */
  }
  int64_t open = 0;
  if (slot->state == VGPU_SLOT_LIVE && slot->open_since_ns != 0 &&
      slot->open_since_ns <= (uint64_t)(now_ns + look->offset_ns) &&
      (look->device_count == 1 || slot->inflight_us[look->device] != 0)) {
    open = (int64_t)slot->open_since_ns - look->offset_ns;
    if (open < now_ns - REFUND_LENGTH_MAX_NS || open <= 0) open = 0;
  }
  p->open_since = open;
  read_ring(card, c, p, look, ring, now_ns);
}

/* ---- settling ------------------------------------------------------------------------------------------------------- */

/* Whether a neighbour may still post something that overlaps what ended at `end`. */
static bool may_overlap(const struct refund_process *p, int64_t end) {
  return p->open_since != 0 && p->open_since < end && p->last_end < end && !p->overdue;
}

/* Slot by slot over all containers, so that one with many processes does not crowd out the others. */
static bool all_in(struct refund_card *card, const struct refund_process *self, int64_t end, bool give_up) {
  bool in = true;
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    struct refund_container *c = &card->containers[i];
    for (uint32_t k = 0; c->name != 0 && k < VGPU_RING_SLOTS; k++) {
      struct refund_process *p = &c->processes[k];
      if (p == self || !p->known || !may_overlap(p, end)) continue;
      if (!give_up) return false;
      p->overdue = true;
      in = false;
    }
  }
  return in;
}

static uint32_t neighbours(const struct refund_card *card, const struct refund_process *self, struct refund_span span,
                           const struct refund_history **out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < VGPU_RING_SLOTS; k++) {
    for (uint32_t i = 0; i < REFUND_CONTAINERS && n < REFUND_OTHERS; i++) {
      const struct refund_process *p = &card->containers[i].processes[k];
      if (card->containers[i].name != 0 && p != self && p->history.next != p->history.first && p->last_end > span.start) {
        out[n++] = &p->history;
      }
    }
  }
  return n;
}

/* A process is interrupted once for each time slice that it has had. */
static void earn(const struct refund_card *card, struct refund_process *p, int64_t own, uint32_t turns) {
  p->earned_ns =
      least(p->earned_ns + own - refund_turn_price_ns(card->model) * turns, 2 * (int64_t)card->model->turn_us * 1000);
}

static void settle(struct refund_card *card, struct refund_container *c, struct refund_process *p, struct refund_span span,
                   bool fresh) {
  const struct refund_history *others[REFUND_OTHERS];
  uint32_t count = neighbours(card, p, span, others);
  struct refund_share share = refund_share_of(card->model, span, p->earned_ns, fresh, others, count);
  earn(card, p, share.own, share.turns);
  if (span.end - span.start <= refund_whole_ns(card->model)) { /* it has been taken for its own */
    card->pot_ns = least(card->pot_ns + span.end - span.start, REFUND_POT_NS);
    c->share_ns = least(c->share_ns + span.end - span.start, REFUND_SHARE_CAP_NS);
  }
  /* time that was nobody's must have been there */
  int64_t nobodys = least(share.lost, most(card->pot_ns - share.own, 0));
  int64_t refund = share.refund - (share.lost - nobodys);
  card->clipped_ns += (uint64_t)(share.lost - nobodys);
  card->pot_ns = most(card->pot_ns - (span.end - span.start - refund) - nobodys, -REFUND_POT_NS);
  c->share_ns = most(c->share_ns - (span.end - span.start - refund), -REFUND_SHARE_CAP_NS);
  c->longest_ns[0] = most(c->longest_ns[0], span.end - span.start - refund);
  c->refund_ns += (uint64_t)refund;
  c->bucket_ns += refund;
  int64_t own = span.end - span.start - refund;
  if (refund > 0 && (c->shortest_ns[0] == 0 || own < c->shortest_ns[0])) c->shortest_ns[0] = own;
  card->refunded_ns += (uint64_t)refund;
  card->settled++;
}

/* Whether the process had not had the card just before. */
static bool comes_fresh(const struct refund_card *card, const struct refund_process *p, struct refund_span span) {
  return p->unsettled == p->history.first ||
         span.start - p->history.spans[(p->unsettled - 1) % REFUND_HISTORY].end > refund_least_ns(card->model);
}

/* Returns how many were settled. */
static uint32_t settle_process(struct refund_card *card, struct refund_container *c, struct refund_process *p, int64_t now_ns,
                               uint32_t room) {
  uint32_t done = 0;
  for (; p->unsettled < p->history.next && done < room; p->unsettled++) {
    struct refund_span span = p->history.spans[p->unsettled % REFUND_HISTORY];
    if (span.end - span.start <= refund_least_ns(card->model)) {
      earn(card, p, span.end - span.start, 0);
      continue;
    }
    bool whole = span.end - span.start <= refund_whole_ns(card->model);
    bool late = now_ns - span.end >= (whole ? REFUND_PATIENCE_WHOLE_NS : REFUND_PATIENCE_NS);
    if (!all_in(card, p, span.end, late && !whole) && !late) break;
    settle(card, c, p, span, comes_fresh(card, p, span));
    done++;
  }
  return done;
}

/* ---- one look ------------------------------------------------------------------------------------------------------- */

static void count_active(struct refund_card *card, int64_t now_ns) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    struct refund_container *c = &card->containers[i];
    c->active = 0;
    for (uint32_t k = 0; c->name != 0 && k < VGPU_RING_SLOTS; k++) {
      const struct refund_process *p = &c->processes[k];
      int64_t since = p->history.next == 0       ? INT64_MIN
                      : c->able_ns > p->last_end ? least(c->able_ns, p->last_end + REFUND_DEBT_MAX_NS)
                                                 : p->last_end;
      bool lately = since > now_ns - REFUND_ACTIVE_NS;
      if (p->known && (lately || p->open_since != 0)) c->active++;
    }
    all += c->active;
  }
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    card->containers[i].others_active = card->containers[i].name != 0 ? all - card->containers[i].active : 0;
  }
}

static void next_second(struct refund_card *card, int64_t now_ns) {
  if (now_ns - card->second_ns < REFUND_S && now_ns >= card->second_ns) return;
  card->second_ns = now_ns;
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    card->containers[i].longest_ns[1] = card->containers[i].longest_ns[0];
    card->containers[i].longest_ns[0] = 0;
    card->containers[i].shortest_ns[1] = card->containers[i].shortest_ns[0];
    card->containers[i].shortest_ns[0] = 0;
  }
}

void refund_tick(struct refund_card *card, const struct refund_look *looks, uint32_t count, int64_t now_ns) {
  int64_t passed = card->last_ns == 0 ? REFUND_POT_NS / 10 : least(most(now_ns - card->last_ns, 0), REFUND_S);
  card->last_ns = now_ns;
  card->passed_ns = passed;
  card->posted = 0;
  card->pot_ns = least(card->pot_ns + passed, REFUND_POT_NS);
  next_second(card, now_ns);
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) card->containers[i].present = false;
  for (uint32_t i = 0; i < count; i++) {
    struct refund_container *known = (struct refund_container *)(uintptr_t)refund_find(card, looks[i].name);
    if (known != NULL) known->present = true;
  }
  for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
    if (!card->containers[i].present) card->containers[i].name = 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    struct refund_container *c = looks[i].name == 0 ? NULL : find_or_add(card, looks[i].name, looks[i].raw_busy_ns);
    if (c == NULL) continue;
    refill(c, &looks[i], passed);
    c->bucket_ns = most(least(looks[i].bucket_ns, REFUND_DEBT_MAX_NS), -REFUND_DEBT_MAX_NS);
    c->share_permille = (uint32_t)most(least(looks[i].share_permille, FULL), 1);
    int64_t debt = debt_time(&looks[i]);
    if (debt > 0) c->able_ns = now_ns + debt;
    for (uint32_t k = 0; k < looks[i].slot_count && k < VGPU_RING_SLOTS; k++) read_process(card, c, &looks[i], k, now_ns);
  }
  uint32_t room = REFUND_SETTLED;
  for (uint32_t k = 0; k < VGPU_RING_SLOTS; k++) {
    for (uint32_t i = 0; i < REFUND_CONTAINERS; i++) {
      struct refund_container *c = &card->containers[i];
      if (c->name != 0 && c->processes[k].known) room -= settle_process(card, c, &c->processes[k], now_ns, room);
    }
  }
  count_active(card, now_ns);
}
