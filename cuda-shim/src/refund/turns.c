#include "turns.h"

#include <string.h>

static struct turn_member *member_of(struct turn_card *card, uint64_t name) {
  struct turn_member *unused = NULL;
  for (uint32_t i = 0; i < TURN_CONTAINERS; i++) {
    if (card->members[i].name == name) return &card->members[i];
    if (card->members[i].name == 0 && unused == NULL) unused = &card->members[i];
  }
  if (unused != NULL) *unused = (struct turn_member){.name = name};
  return unused;
}

static void forget_absent(struct turn_card *card, const struct turn_look *looks, uint32_t count) {
  for (uint32_t i = 0; i < TURN_CONTAINERS; i++) {
    bool present = false;
    for (uint32_t k = 0; k < count; k++) present = present || looks[k].name == card->members[i].name;
    if (!present) card->members[i] = (struct turn_member){0};
  }
}

static uint64_t clamped_longest_us(const struct turn_look *look) {
  uint64_t us = look->longest_ns <= 0 ? 0 : (uint64_t)look->longest_ns / 1000;
  return us > TURN_LONGEST_US ? TURN_LONGEST_US : us;
}

/* Whether the turn that was given at the last look is running now, and has room for one of its slices. */
static bool in_turn(const struct turn_card *card, uint64_t name, uint64_t longest_us, int64_t now_ns) {
  for (uint32_t i = 0; i < TURN_CONTAINERS; i++) {
    const struct turn *t = &card->given[i];
    if (card->given_name[i] != name || t->length_us == 0) continue;
    int64_t at = (now_ns / 1000 - t->offset_us) % t->period_us;
    return (uint64_t)(at < 0 ? at + t->period_us : at) + longest_us < t->length_us;
  }
  return false;
}

static bool works_always(const struct turn_member *m) { return __builtin_popcount(m->at_work) >= TURN_LOOKS_AT_WORK; }

static bool worked_lately(const struct turn_member *m, int64_t now_ns) {
  return m->worked_ns != 0 && now_ns - m->worked_ns <= TURN_END_NS;
}

static void observe(struct turn_card *card, struct turn_member *m, const struct turn_look *look, int64_t now_ns) {
  bool saved = look->bucket_ns >= TURN_SAVED_NS;
  if (look->working) m->worked_ns = now_ns;
  /* who waits for its bucket works; who has never launched has an empty one too */
  bool waits = look->bucket_ns <= 0 && worked_lately(m, now_ns);
  m->at_work = (m->at_work << 1 | (look->working || waits)) & TURN_LOOKS_MASK;
  if (saved) m->saved_ns = now_ns;
  if (!saved || !works_always(m)) {
    m->backlogged_since = 0;
  } else if (m->backlogged_since == 0) {
    m->backlogged_since = now_ns;
  }
  if (look->working) {
    m->idle_looks = 0;
  } else if (in_turn(card, look->name, clamped_longest_us(look), now_ns) && m->idle_looks < TURN_IDLE_LOOKS) {
    m->idle_looks++;
  }
}

/* Under turns nobody has something in flight all the time. */
static bool joins(const struct turn_card *card, const struct turn_member *m, int64_t now_ns) {
  return card->on ? worked_lately(m, now_ns) : works_always(m);
}

static bool pressed(const struct turn_card *card, const struct turn_member *m, int64_t now_ns) {
  if (card->on) return m->saved_ns != 0 && now_ns - m->saved_ns <= TURN_END_NS;
  return m->backlogged_since != 0 && now_ns - m->backlogged_since >= TURN_BACKLOG_NS;
}

static uint64_t weigh(const struct turn_look *looks, uint32_t count, const bool *takes, uint64_t *weights) {
  uint64_t sum = 0, borrowers = 0;
  for (uint32_t i = 0; i < count; i++) {
    weights[i] = takes[i] ? (looks[i].permille < 1 ? 1 : looks[i].permille > 1000 ? 1000 : looks[i].permille) : 0;
    sum += weights[i];
    borrowers += takes[i] && looks[i].borrows;
  }
  uint64_t idle = sum < 1000 && borrowers > 0 ? (1000 - sum) / borrowers : 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!takes[i] || !looks[i].borrows) continue;
    weights[i] += idle;
    sum += idle;
  }
  return sum;
}

/* Long slices do not fill just any turn: of the container whose slices are longest beside its turn, a whole number fits. */
static uint64_t fitted(uint64_t period, const struct turn_look *looks, uint32_t count, const uint64_t *weights, uint64_t sum) {
  uint64_t best = period, fewest = TURN_FITTED_SLICES;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t longest = clamped_longest_us(&looks[i]), turn = period * weights[i] / sum;
    if (longest == 0 || turn < longest + TURN_SLACK_US) continue;
    uint64_t fit = (turn - TURN_SLACK_US) / longest;
    if (fit >= fewest) continue;
    fewest = fit;
    best = (fit * longest + TURN_SLACK_US) * sum / weights[i];
  }
  return best;
}

static uint32_t period_for(struct turn_card *card, const struct turn_look *looks, uint32_t count, const uint64_t *weights,
                           uint64_t sum, int64_t now_ns) {
  uint64_t wanted = TURN_SHORTEST_US, now_us = card->period_us;
  for (uint32_t i = 0; i < count; i++) {
    if (weights[i] == 0) continue;
    uint64_t period = TURN_SLICES * clamped_longest_us(&looks[i]) * sum / weights[i];
    if (period > wanted) wanted = period;
  }
  if (wanted > TURN_LONGEST_US) wanted = TURN_LONGEST_US;
  wanted = fitted(wanted, looks, count, weights, sum);
  /* a period that trembles helps nobody: small changes are made now and then */
  bool far = wanted * 4 < now_us * 3 || wanted * 4 > now_us * 5;
  bool rested = now_ns - card->period_since_ns >= TURN_STEADY_NS;
  if (!far && (!rested || wanted == now_us)) return card->period_us;
  card->period_since_ns = now_ns;
  return (uint32_t)wanted;
}

void turn_plan(struct turn_card *card, const struct turn_look *looks, uint32_t count, int64_t now_ns, struct turn *out) {
  for (uint32_t i = 0; i < count; i++) out[i] = (struct turn){0, 0, 0};
  if (count > TURN_CONTAINERS) count = TURN_CONTAINERS;
  forget_absent(card, looks, count);
  bool takes[TURN_CONTAINERS] = {false}, latency = false, needed = false;
  uint32_t joined = 0, taking = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct turn_member *m = looks[i].name == 0 ? NULL : member_of(card, looks[i].name);
    if (m == NULL) continue;
    observe(card, m, &looks[i], now_ns);
    latency = latency || (looks[i].latency && worked_lately(m, now_ns));
    if (!joins(card, m, now_ns)) continue;
    joined++;
    needed = needed || pressed(card, m, now_ns);
    takes[i] = m->idle_looks < TURN_IDLE_LOOKS;
    taking += takes[i];
  }
  card->on = joined >= 2 && needed && !latency;
  memset(card->given_name, 0, sizeof card->given_name);
  memset(card->given, 0, sizeof card->given);
  if (!card->on || taking < 2) {
    if (!card->on) card->period_us = 0;
    return;
  }
  uint64_t weights[TURN_CONTAINERS], before = 0, sum = weigh(looks, count, takes, weights);
  card->period_us = period_for(card, looks, count, weights, sum, now_ns);
  for (uint32_t i = 0; i < count; i++) {
    if (!takes[i]) continue;
    uint64_t from = card->period_us * before / sum, to = card->period_us * (before + weights[i]) / sum;
    before += weights[i];
    out[i] = (struct turn){card->period_us, (uint32_t)from, (uint32_t)(to - from)};
    card->given_name[i] = looks[i].name;
    card->given[i] = out[i];
  }
}
