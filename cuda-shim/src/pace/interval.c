/* Slices as others see them. What siblings have written is looked at with suspicion: it may be garbage, never a trap. */
#include "interval.h"

#include <stdbool.h>

/* More than a slice can be worth: a sibling's word is not taken beyond it. */
#define MOST_IN_FLIGHT_US 1000000u

void interval_post(const struct pace_flight *f, uint32_t device, int64_t start_ns, int64_t end_ns) {
  if (f->slot >= VGPU_RING_SLOTS || end_ns <= start_ns) return;
  struct vgpu_ring *ring = &f->usage->rings[f->slot];
  uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
  struct vgpu_interval *e = &ring->entries[head % VGPU_RING_ENTRIES];
  int64_t length_us = (end_ns - start_ns + 500) / 1000;
  __atomic_store_n(&e->start_ns, start_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&e->length_us, length_us > UINT32_MAX ? UINT32_MAX : (uint32_t)length_us, __ATOMIC_RELAXED);
  __atomic_store_n(&e->device, device, __ATOMIC_RELAXED);
  __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

void inflight_add(struct pace_flight *f, uint32_t device, int64_t ns) {
  int64_t now = atomic_fetch_add_explicit(&f->inflight_ns[device], ns, memory_order_relaxed) + ns;
  int64_t us = now <= 0 ? 0 : (now + 999) / 1000;
  uint32_t *shown = &f->usage->slots[f->slot].inflight_us[device];
  __atomic_store_n(shown, us > UINT32_MAX ? UINT32_MAX : (uint32_t)us, __ATOMIC_RELAXED);
}

static uint32_t slots_in_use(const struct pace_flight *f) {
  uint32_t n = __atomic_load_n(&f->usage->header.slot_high_water, __ATOMIC_ACQUIRE);
  return n < VGPU_SLOTS ? n : VGPU_SLOTS;
}

static bool live(const struct pace_flight *f, uint32_t k) {
  return k != f->slot && __atomic_load_n(&f->usage->slots[k].state, __ATOMIC_ACQUIRE) == VGPU_SLOT_LIVE;
}

int64_t inflight_sum(struct pace_flight *f, uint32_t device, int64_t *own_ns) {
  int64_t own = atomic_load_explicit(&f->inflight_ns[device], memory_order_relaxed);
  if (own < 0) own = 0;
  if (own_ns != NULL) *own_ns = own;
  int64_t sum = own;
  uint32_t slots = slots_in_use(f);
  for (uint32_t k = 0; k < slots; k++) {
    if (!live(f, k)) continue;
    uint32_t us = __atomic_load_n(&f->usage->slots[k].inflight_us[device], __ATOMIC_RELAXED);
    sum += (int64_t)(us < MOST_IN_FLIGHT_US ? us : MOST_IN_FLIGHT_US) * 1000;
  }
  return sum;
}
