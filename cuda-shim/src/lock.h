/* A lock of a few instructions' work inside one process. Bounded: a thread that dies with it, or a fork, hangs nobody. */
#ifndef VGPU_LOCK_H
#define VGPU_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "sys.h"

typedef atomic_uint vgpu_lock; /* 0 free, 1 held, 2 held and waited for */

static inline bool lock_take(vgpu_lock *lock) {
  unsigned int expected = 0;
  if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, memory_order_acquire, memory_order_relaxed)) return true;
  for (int i = 0; i < 200; i++) {
    expected = 0;
    if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, memory_order_acquire, memory_order_relaxed)) return true;
  }
  for (int i = 0; i < 100; i++) {
    if (atomic_exchange_explicit(lock, 2, memory_order_acquire) == 0) return true;
    (void)sys_futex((const volatile uint32_t *)lock, 0, 2, 10000000);
  }
  return false;
}

static inline void lock_give(vgpu_lock *lock) {
  if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2) (void)sys_futex((const volatile uint32_t *)lock, 1, 1, 0);
}

#endif
