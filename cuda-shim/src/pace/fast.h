/* The way past pacing, taken by all launches of a slice but the first and the last: thread-local words only. */
#ifndef VGPU_PACE_FAST_H
#define VGPU_PACE_FAST_H

#include "core.h"

static inline uint32_t pace_slot_of(pace_handle key) { return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 61); }
_Static_assert(PACE_ENTRIES == 8, "three bits");

/* True: launch. False: pace_before has to be asked. */
static inline bool pace_pass(struct pace_thread *t, pace_handle key) {
  if (__builtin_expect(t == NULL, 0)) return false;
  struct pace_entry *e = &t->entries[pace_slot_of(key)];
  if (__builtin_expect(__atomic_load_n(&e->key, __ATOMIC_RELAXED) != key, 0)) return false;
  int32_t left = __atomic_load_n(&e->left, __ATOMIC_RELAXED);
  if (__builtin_expect(left <= 1, 0)) return false;
  __atomic_store_n(&e->left, left - 1, __ATOMIC_RELAXED);
  return true;
}

#endif
