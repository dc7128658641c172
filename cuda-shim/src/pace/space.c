/*
 * Whether the process keeps to its part of the multiprocessors. The tenant has the variables in hand by which MPS knows its
 * share, so nothing is believed but what the driver says of the context that is about to launch.
 */
#include "core.h"
#include "log.h"

/* MPS rounds down; who has more than the exact share has more than was promised. Of a card that nobody knows all is more. */
static bool within(uint32_t multiprocessors, const struct vgpu_limit *limit) {
  return multiprocessors != 0 &&
         (uint64_t)multiprocessors * VGPU_PERMILLE_FULL <= (uint64_t)limit->sm_count * limit->core_hard_permille;
}

/* Contexts of one process may differ, and what one of them has run is not taken back. */
static uint32_t most(struct pace_device *d, uint32_t now) {
  uint32_t before = __atomic_load_n(&d->multiprocessors, __ATOMIC_RELAXED);
  while (before < now &&
         !__atomic_compare_exchange_n(&d->multiprocessors, &before, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
  return before < now ? now : before;
}

/* MPS limits each client by itself: two of one container would have twice its share. */
static bool alone(const struct pace *p, uint8_t device) {
  const struct vgpu_usage *u = p->flight.usage;
  uint32_t slots = __atomic_load_n(&u->header.slot_high_water, __ATOMIC_SEQ_CST);
  for (uint32_t k = 0; k < slots && k < VGPU_SLOTS; k++) {
    const struct vgpu_usage_slot *s = &u->slots[k];
    if (k == p->flight.slot || __atomic_load_n(&s->state, __ATOMIC_RELAXED) != VGPU_SLOT_LIVE) continue;
    if (__atomic_load_n(&s->overhead_pages[device], __ATOMIC_RELAXED) != 0 ||
        __atomic_load_n(&s->bytes[device], __ATOMIC_RELAXED) != 0)
      return false;
  }
  return true;
}

struct pace_space pace_space_look(struct pace *p, uint8_t device, const struct vgpu_limit *limit) {
  struct pace_device *d = &p->devices[device];
  struct pace_space s = {.shared = true};
  uint32_t now = p->world->multiprocessors(p->world->self, device, &s.shared);
  uint32_t had = most(d, now);
  s.holds = now != 0 && within(had, limit);
  s.alone = s.holds && alone(p, device);
  if (!s.holds && __atomic_exchange_n(&d->told, 1, __ATOMIC_RELAXED) == 0) {
    (void)__atomic_fetch_add(&p->flight.usage->devices[device].internal_errors, 1, __ATOMIC_RELAXED);
    vgpu_log(VGPU_LOG_ERROR, "not kept to its part of the card by MPS, so paced by time; multiprocessors", NULL, had);
  }
  return s;
}
