/*
 * The word is the owner's tag and a bit that says somebody sleeps. Robust pthread mutexes would not do: they name the
 * owner by thread id, which two containers may share. Here a sleeper that has waited some milliseconds asks the kernel
 * whether the owner's slot is still held and, if not, takes the lock over; the tag's generation makes sure that it takes
 * it from that dead owner and not from a later one of the same slot.
 */
#define _GNU_SOURCE
#include "gpu_lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLEEPERS UINT32_C(0x80000000)

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout) {
  return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static bool take(_Atomic uint32_t *word, uint32_t from, uint32_t to) { return atomic_compare_exchange_strong(word, &from, to); }

/* A slot that somebody else has by now had an owner that died. */
static bool owner_lives(const struct gpu *g, uint32_t tag) {
  uint32_t slot = (tag & 0xFFFFu) - 1, generation = (tag & ~SLEEPERS) >> 16;
  return g->state->processes[slot].generation == generation && gpu_alive(g, slot, NULL);
}

bool gpu_lock(const struct gpu *g, _Atomic uint32_t *word) {
  const struct timespec patience = {.tv_nsec = 4000000};
  for (int i = 0; i < 64; i++) {
    if (atomic_load_explicit(word, memory_order_relaxed) == 0 && take(word, 0, g->tag)) return false;
    if (i > 32) (void)sched_yield(); /* the owner may be the one that this core should run */
  }
  for (;;) {
    uint32_t seen = atomic_load(word);
    if (seen == 0) {
      if (take(word, 0, g->tag | SLEEPERS)) return false; /* others may still sleep */
      continue;
    }
    if ((seen & SLEEPERS) == 0 && !take(word, seen, seen | SLEEPERS)) continue;
    seen |= SLEEPERS;
    bool late = futex(word, FUTEX_WAIT, seen, &patience) != 0 && errno == ETIMEDOUT;
    if (!late || atomic_load(word) != seen || owner_lives(g, seen)) continue;
    if (take(word, seen, g->tag | SLEEPERS)) return true;
  }
}

void gpu_unlock(_Atomic uint32_t *word) {
  if ((atomic_exchange(word, 0) & SLEEPERS) != 0) (void)futex(word, FUTEX_WAKE, 1, NULL);
}
