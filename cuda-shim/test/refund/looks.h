/* Containers of one process each, as a look at a card would find them; times in microseconds. */
#ifndef VGPU_TEST_LOOKS_H
#define VGPU_TEST_LOOKS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "refund/refund.h"

enum { LOOK_TENANTS = 4, LOOK_PROCESSES = 4 };

struct tenant {
  uint32_t permille;
  uint64_t raw_ns;
  int64_t bucket_ns;
  struct vgpu_usage_slot slots[LOOK_PROCESSES];
  struct vgpu_ring rings[LOOK_PROCESSES];
};

struct scene {
  struct refund_card *card;
  struct tenant tenants[LOOK_TENANTS];
  uint32_t count;
  int64_t now_us;
};

static inline void scene_look(struct scene *s) {
  struct refund_look looks[LOOK_TENANTS];
  for (uint32_t i = 0; i < s->count; i++) {
    struct tenant *t = &s->tenants[i];
    looks[i] = (struct refund_look){i + 1, 0, 1, t->permille, LOOK_PROCESSES, 0, t->raw_ns, t->bucket_ns, t->slots, t->rings};
  }
  refund_tick(s->card, looks, s->count, s->now_us * 1000);
}

/* Tenants that may have everything, known to the ledger, at 100 s; time has passed, so that the card's pot is full. */
static inline struct scene *scene_begin(uint32_t count) {
  struct scene *s = calloc(1, sizeof *s);
  if (s == NULL || (s->card = calloc(1, sizeof *s->card)) == NULL) abort();
  refund_begin(s->card, gpu_model_of("NVIDIA H200"));
  s->count = count;
  s->now_us = 99000000;
  for (uint32_t i = 0; i < LOOK_TENANTS; i++) {
    s->tenants[i].permille = 1000;
    for (uint32_t k = 0; k < LOOK_PROCESSES; k++) s->tenants[i].slots[k].state = VGPU_SLOT_LIVE;
  }
  scene_look(s);
  s->now_us = 100000000;
  scene_look(s);
  return s;
}

static inline void scene_end(struct scene *s) {
  free(s->card);
  free(s);
}

/* Charged or not. */
static inline void scene_write(struct scene *s, uint32_t tenant, uint32_t process, int64_t start_us, uint32_t length_us) {
  struct vgpu_ring *r = &s->tenants[tenant].rings[process];
  r->entries[r->head % VGPU_RING_ENTRIES] = (struct vgpu_interval){start_us * 1000, length_us, 0};
  r->head++;
}

/* As an honest library does. */
static inline void scene_post(struct scene *s, uint32_t tenant, uint32_t process, int64_t start_us, uint32_t length_us) {
  s->tenants[tenant].raw_ns += (uint64_t)length_us * 1000;
  scene_write(s, tenant, process, start_us, length_us);
}

static inline void scene_look_at(struct scene *s, int64_t now_us) {
  s->now_us = now_us;
  scene_look(s);
}

/* What a tenant was given so far, in microseconds. */
static inline int64_t scene_refund(const struct scene *s, uint32_t tenant) {
  const struct refund_container *c = refund_find(s->card, tenant + 1);
  return c == NULL ? -1 : (int64_t)(c->refund_ns / 1000);
}

#endif
