/* Where in the period we are. */
#include "turn.h"

struct where {
  int64_t number; /* of the period */
  int64_t at_ns;  /* since its turn began */
};

/* The agent may write anything sensible: a period of at most a minute, in which the turn fits. */
static bool has_turns(const struct pace_load *load) {
  return load->known && load->turn_length_ns > 0 && load->turn_period_ns <= 60 * PACE_S &&
         load->turn_length_ns < load->turn_period_ns;
}

static struct where where(const struct pace_load *load, int64_t ns) {
  int64_t since = ns - load->turn_offset_ns, period = load->turn_period_ns;
  int64_t number = since / period - (since % period < 0 ? 1 : 0);
  return (struct where){number, since - number * period};
}

static void begin(struct pace_turn *t, int64_t number, int64_t length_ns) {
  if (__atomic_load_n(&t->number, __ATOMIC_RELAXED) == number) return;
  int64_t overrun = __atomic_load_n(&t->overrun_ns, __ATOMIC_RELAXED);
  int64_t used = overrun < length_ns ? overrun : length_ns;
  __atomic_store_n(&t->number, number, __ATOMIC_RELAXED);
  __atomic_store_n(&t->used_ns, used, __ATOMIC_RELAXED);
  (void)__atomic_fetch_sub(&t->overrun_ns, used, __ATOMIC_RELAXED);
}

int64_t turn_wait(struct pace_turn *t, const struct pace_load *load, int64_t now_ns, int64_t ahead_ns, int64_t estimate_ns,
                  int64_t *room_ns) {
  *room_ns = INT64_MAX;
  if (!has_turns(load)) return 0;
  struct where here = where(load, now_ns);
  int64_t to_next = load->turn_period_ns - here.at_ns;
  if (here.at_ns >= load->turn_length_ns) return to_next;
  begin(t, here.number, load->turn_length_ns);
  int64_t length = load->turn_length_ns - __atomic_load_n(&t->used_ns, __ATOMIC_RELAXED);
  *room_ns = length - here.at_ns - ahead_ns;
  if (*room_ns > 0 && estimate_ns <= *room_ns) return 0;
  bool too_long = estimate_ns > load->turn_length_ns / 4;
  /* in the first quarter, so that a turn which begins a little late is not lost */
  if (too_long && *room_ns > 0 && here.at_ns + ahead_ns < load->turn_length_ns / 4) return 0;
  return to_next;
}

void turn_ended(struct pace_turn *t, const struct pace_load *load, int64_t opened_ns, int64_t end_ns) {
  if (!has_turns(load)) return;
  struct where opened = where(load, opened_ns);
  if (opened.at_ns >= load->turn_length_ns) return; /* opened when there were no turns yet, or after an escape */
  int64_t over = end_ns - (opened_ns - opened.at_ns + load->turn_length_ns);
  if (over > load->turn_length_ns / 50)
    (void)__atomic_fetch_add(&t->overrun_ns, over < PACE_S ? over : PACE_S, __ATOMIC_RELAXED);
}
