#include "share.h"

#include <stdbool.h>
#include <stddef.h>

#include "brief.h"

enum { MOST_OTHERS = 128 };

struct cut {
  int64_t at;
  int32_t change; /* +1 a neighbour's long interval begins, -1 it ends */
};

/* How many have a long interval in flight, as time goes on. */
struct crowd {
  const struct cut *cuts;
  uint32_t count, next;
  uint32_t size; /* with the process itself */
};

struct sharing {
  struct refund_span in;
  int64_t shared[MOST_OTHERS + 2]; /* time in flight with so many */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static const struct refund_span *span_at(const struct refund_history *h, uint64_t n) { return &h->spans[n % REFUND_HISTORY]; }

static bool is_long(const struct gpu_model *model, const struct refund_span *s) {
  return s->end - s->start > refund_brief_ns(model);
}

uint64_t refund_first_after(const struct refund_history *h, int64_t at) {
  uint64_t low = h->first, high = h->next;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (span_at(h, middle)->end > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static uint32_t collect_cuts(const struct gpu_model *model, struct refund_span in, const struct refund_history *const *others,
                             uint32_t count, struct cut *cuts) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (uint64_t k = refund_first_after(others[i], in.start); k < others[i]->next && n + 2 <= REFUND_CUTS; k++) {
      const struct refund_span *s = span_at(others[i], k);
      if (s->start >= in.end) break;
      if (!is_long(model, s)) continue;
      cuts[n++] = (struct cut){most(s->start, in.start), 1};
      cuts[n++] = (struct cut){least(s->end, in.end), -1};
    }
  }
  for (uint32_t i = 1; i < n; i++) { /* few, and nearly in order */
    struct cut c = cuts[i];
    uint32_t j = i;
    for (; j > 0 && cuts[j - 1].at > c.at; j--) cuts[j] = cuts[j - 1];
    cuts[j] = c;
  }
  return n;
}

static uint32_t crowd_at(struct crowd *crowd, int64_t at) {
  for (; crowd->next < crowd->count && crowd->cuts[crowd->next].at <= at; crowd->next++) {
    crowd->size = (uint32_t)((int32_t)crowd->size + crowd->cuts[crowd->next].change);
  }
  return crowd->size;
}

static void add_shared(struct sharing *s, struct crowd *crowd, int64_t from, int64_t to) {
  while (from < to) {
    uint32_t size = crowd_at(crowd, from);
    int64_t until = crowd->next < crowd->count ? least(crowd->cuts[crowd->next].at, to) : to;
    s->shared[size] += until - from;
    from = until;
  }
}

/* The neighbours' short intervals in order of time. */
struct shorts {
  const struct gpu_model *model;
  const struct refund_history *const *others;
  uint32_t count, seen;
  int64_t end;
  uint64_t at[MOST_OTHERS];
};

static const struct refund_span *next_short(struct shorts *s) {
  if (s->seen == REFUND_SHORTS) return NULL;
  uint32_t best = s->count;
  for (uint32_t i = 0; i < s->count; i++) {
    while (s->at[i] < s->others[i]->next && is_long(s->model, span_at(s->others[i], s->at[i]))) s->at[i]++;
    if (s->at[i] == s->others[i]->next || span_at(s->others[i], s->at[i])->start >= s->end) continue;
    if (best == s->count || span_at(s->others[i], s->at[i])->start < span_at(s->others[best], s->at[best])->start) best = i;
  }
  if (best == s->count) return NULL;
  s->seen++;
  return span_at(s->others[best], s->at[best]++);
}

/* Of time that so many share. More than two lose a change for each time slice, and no more. */
static int64_t loss_permille(const struct gpu_model *m, uint32_t size) {
  int64_t change = ((int64_t)m->leave_us + m->back_us) / 2;
  return size == 2 ? m->shared_loss_permille : change * 1000 / (change + m->turn_us);
}

struct refund_share refund_share_of(const struct gpu_model *model, struct refund_span interval, int64_t earned_ns, bool fresh,
                                    const struct refund_history *const *others, uint32_t count) {
  if (count > MOST_OTHERS) count = MOST_OTHERS;
  if (interval.end - interval.start <= refund_brief_ns(model))
    return refund_brief_share(model, interval, earned_ns, fresh, others, count);
  struct cut cuts[REFUND_CUTS];
  uint32_t cut_count = collect_cuts(model, interval, others, count, cuts);
  struct crowd at_short = {cuts, cut_count, 0, 1}, at_rest = {cuts, cut_count, 0, 1};
  struct sharing sharing = {.in = interval};
  struct shorts shorts = {.model = model, .others = others, .count = count, .end = interval.end};
  for (uint32_t i = 0; i < count; i++) shorts.at[i] = refund_first_after(others[i], interval.start);

  const int64_t leave = (int64_t)model->leave_us * 1000, back = (int64_t)model->back_us * 1000;
  int64_t position = interval.start, taken_until = interval.start;
  int64_t switching = 0, switching_each = 0, covered = 0, given = 0;
  for (const struct refund_span *s = next_short(&shorts); s != NULL; s = next_short(&shorts)) {
    int64_t start = most(s->start, interval.start), end = least(s->end, interval.end);
    uint32_t size = crowd_at(&at_short, start);
    int64_t from = most(start - (size == 1 ? leave : 0), position), to = most(least(end + back, interval.end), position);
    if (from > to) from = to;
    add_shared(&sharing, &at_rest, position, from);
    int64_t taken = most(end - most(start, taken_until), 0);
    taken_until = most(taken_until, end);
    covered += to - from;
    switching += to - from - taken;
    switching_each += (to - from - taken) / size;
    position = to;
    /* a short one that was interrupted holds turns of ours, and of the others that have a long one in flight */
    int64_t whole = s->end - s->start;
    struct refund_rest rest = refund_rest_of(model, whole, size);
    if (rest.rounds == 0) continue;
    int64_t switched = taken * (rest.switches / 1000) / (whole / 1000), others_had = taken * (rest.own / 1000) / (whole / 1000);
    int64_t turns = most(taken - others_had - switched, 0);
    given += turns / size;
    covered -= turns;
    switching += switched;
    switching_each += switched / size;
  }
  add_shared(&sharing, &at_rest, position, interval.end);

  const int64_t length = interval.end - interval.start;
  int64_t own = sharing.shared[1] + given, lost = 0;
  /* the card cannot switch more often than it has time slices: a flood of tiny intervals is worth no more than that */
  int64_t switching_most = leave + back + (length - covered) * model->switch_max_permille / 1000;
  if (switching > switching_most) {
    own += switching - switching_most;
    switching_each = switching_each / 1000 * (switching_most / 1000) / (switching / 1000 + 1) * 1000;
  }
  lost += most(switching_each, 0);
  for (uint32_t size = 2; size <= count + 1; size++) {
    int64_t loss = sharing.shared[size] * loss_permille(model, size) / 1000;
    own += (sharing.shared[size] - loss) / size;
    lost += loss / size;
  }
  int64_t refund = least(most(length - own, 0), length * REFUND_MOST_PERCENT / 100);
  return (struct refund_share){.own = length - refund, .refund = refund, .lost = least(lost, refund)};
}
