#include "brief.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST_ROUNDS = 3, MOST_NEIGHBOURS = 128 };

#define STRAIGHT_NS INT64_C(50000)  /* no pause: events are not more exact */
#define LEAST_OWN_NS INT64_C(10000) /* nobody has the card for less */

/* What is looked at. */
struct scene {
  const struct gpu_model *model;
  struct refund_span in;
  bool fresh;
  const struct refund_history *const *others;
  uint32_t count;
  uint32_t looks; /* at intervals, that are left */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t turn_of(const struct gpu_model *m) { return (int64_t)m->turn_us * 1000; }
/* One change of process; a round of n neighbours has n + 1. */
static int64_t change_of(const struct gpu_model *m) { return ((int64_t)m->leave_us + m->back_us) * 500; }

struct refund_rest refund_rest_of(const struct gpu_model *model, int64_t length_ns, uint32_t others) {
  struct refund_rest rest = {length_ns, 0, 0};
  if (length_ns <= refund_whole_ns(model)) return rest;
  const int64_t switches = change_of(model) * (others + 1), round = switches + turn_of(model) * others;
  while (rest.rounds < MOST_ROUNDS && rest.own - round >= LEAST_OWN_NS &&
         (rest.rounds == 0 || rest.own > turn_of(model) * (rest.rounds + 1))) {
    rest.own -= round;
    rest.switches += switches;
    rest.rounds++;
  }
  return rest;
}

/* What one neighbour had of the interval. */
struct visit {
  int64_t ns;     /* 0: nothing */
  uint32_t times; /* how often the card went to it */
  bool whole;     /* it may have been in flight all the time: a time slice at each interruption, if there was one */
};

/* Turns of one of two that alternate for so long: one, three, five time slices hold one, two, three of it. */
static int64_t alternate(const struct gpu_model *m, int64_t ns) {
  int64_t k = (2 * ns + 3 * turn_of(m)) / (4 * turn_of(m));
  return k < 1 ? 1 : k;
}

/* The neighbour's interval, if it begins before `end` and there are looks left. */
static const struct refund_span *span_of(struct scene *sc, const struct refund_history *h, uint64_t k, int64_t end) {
  const struct refund_span *s = &h->spans[k % REFUND_HISTORY];
  if (k == h->next || s->start >= end || sc->looks == 0) return NULL;
  sc->looks--;
  return s;
}

/* Of the neighbours but one, what began and ended between the two times, and the changes to it. */
static int64_t between(struct scene *sc, struct refund_span in, uint32_t but) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < sc->count; i++) {
    if (i == but) continue;
    uint64_t k = refund_first_after(sc->others[i], in.start);
    for (const struct refund_span *s; (s = span_of(sc, sc->others[i], k, in.end)) != NULL && s->end <= in.end; k++) {
      if (s->start >= in.start) sum += refund_rest_of(sc->model, s->end - s->start, 1).own + change_of(sc->model);
    }
  }
  return sum;
}

/* Intervals of one neighbour without a pause between them: its turns are not told apart by them. */
struct run {
  struct refund_span span;
  int64_t own; /* less the process's own turns in them */
};

/*
 * Who begins or ends an interval has the card at that moment, and so had the process itself at both its ends. What began and
 * ended in between is the neighbour's, less the process's own turns in it. What began in between and went on had whole time
 * slices before the card came back. What only ended there had what is left of the time until then by the process's own turns
 * (the first is whole if it came fresh, else half of one) and by others.
 */
static int64_t had_in(struct scene *sc, const struct run *r, uint32_t neighbour) {
  const int64_t turn = turn_of(sc->model), change = change_of(sc->model);
  const bool before = r->span.start<sc->in.start, after = r->span.end> sc->in.end;
  if (!before && !after) return r->own;
  if (before && after) return turn;
  const struct refund_span overlap = {most(r->span.start, sc->in.start), least(r->span.end, sc->in.end)};
  int64_t length = overlap.end - overlap.start;
  if (after && length < turn) return 0;
  length -= between(sc, overlap, neighbour);
  if (after) return turn * alternate(sc->model, length);
  if (length < turn) return most(length - change, 0) / 2; /* the process's own turn was not over */
  int64_t ours = alternate(sc->model, length);
  return most(length - change * (2 * ours - 1) - turn * ours + (sc->fresh ? 0 : turn / 2), 0);
}

static struct visit visit_of(struct scene *sc, uint32_t neighbour) {
  const struct refund_history *h = sc->others[neighbour];
  struct visit v = {0, 0, false};
  uint64_t k = refund_first_after(h, sc->in.start);
  for (const struct refund_span *s = span_of(sc, h, k, sc->in.end); s != NULL;) {
    struct run run = {*s, 0};
    for (; s != NULL && s->start - run.span.end <= STRAIGHT_NS; s = span_of(sc, h, ++k, sc->in.end)) {
      run.span.end = s->end;
      run.own += refund_rest_of(sc->model, s->end - s->start, 1).own;
    }
    int64_t had = had_in(sc, &run, neighbour);
    if (had == 0) continue;
    v.ns += had;
    v.times++;
    v.whole = v.whole || (run.span.start < sc->in.start && run.span.end > sc->in.end);
  }
  return v;
}

/* In order of what they had: who was there for less is surer to have been there. */
static uint32_t visits_of(struct scene *sc, struct visit *visits) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < sc->count && n < MOST_NEIGHBOURS; i++) {
    struct visit v = visit_of(sc, i);
    if (v.ns == 0) continue;
    uint32_t j = n++;
    for (; j > 0 && visits[j - 1].ns > v.ns; j--) visits[j] = visits[j - 1];
    visits[j] = v;
  }
  return n;
}

struct refund_share refund_brief_share(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns,
                                       bool fresh, const struct refund_history *const *others, uint32_t count) {
  const int64_t length = interval.end - interval.start, turn = turn_of(model), change = change_of(model);
  struct scene scene = {model, interval, fresh, others, count, REFUND_SHORTS};
  struct visit visits[MOST_NEIGHBOURS];
  uint32_t n = visits_of(&scene, visits), turns = 0, slices = 0;
  int64_t own = length, lost = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t rounds = visits[i].times > turns ? visits[i].times : turns;
    int64_t switches = change * (visits[i].times + rounds - turns);
    if (own - visits[i].ns - switches < LEAST_OWN_NS) break;
    own -= visits[i].ns + switches;
    lost += switches;
    turns = rounds;
    slices += visits[i].whole;
  }
  /* what is still more than so many turns of its own holds further rounds of those that were there all the time */
  const int64_t switches = change * (slices + 1), round = switches + turn * slices;
  while (slices > 0 && turns < MOST_ROUNDS && own > turn * (turns + 1) && own - round >= LEAST_OWN_NS) {
    own -= round;
    lost += switches;
    turns++;
  }
  if (turns == 0 || earned_ns + own < refund_turn_price_ns(model) * turns) return (struct refund_share){.own = length};
  int64_t refund = least(length - own, length * REFUND_MOST_PERCENT / 100);
  return (struct refund_share){.own = length - refund, .refund = refund, .lost = least(lost, refund), .turns = turns};
}
