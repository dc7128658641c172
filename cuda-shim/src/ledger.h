/*
 * The container's memory account. What a container uses is by definition the sum over its slots, and a process publishes
 * its own share before it looks at the sum: two requests that do not fit together may both be refused, never both granted.
 * No lock is held while the driver works.
 */
#ifndef VGPU_LEDGER_H
#define VGPU_LEDGER_H

#include "devices.h"
#include "table.h"

struct vgpu_totals {
  uint64_t physical; /* device memory and overhead of contexts */
  uint64_t managed;  /* memory that the driver may move to the host */
};

/* Sums over all slots; what is absurd in them counts as far as it is not. */
struct vgpu_totals vgpu_totals(const struct vgpu_shared *shared, uint8_t entry);

/* Charges and answers true, or leaves everything as it was. Units: bytes, for overhead and managed rounded up to pages. */
bool vgpu_charge(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes);
void vgpu_uncharge(const struct vgpu_shared *shared, struct vgpu_process *me, uint8_t entry, enum vgpu_charge kind,
                   uint64_t bytes);

/* Charges without asking: for what the driver has done already. */
void vgpu_charge_anyway(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes);

/* Counts the refusal with its size; CUDA_ERROR_OUT_OF_MEMORY. */
CUresult vgpu_refuse(const struct vgpu_place *place, uint64_t bytes);

/* Takes an item's charge back. */
void vgpu_item_gone(const struct vgpu_item *item);

/* Replaces the guess for contexts by what the agent has measured, if there is news. */
void vgpu_overhead_learn(const struct vgpu_place *place);

/* Contexts of this process came or went: what was measured before does not know. */
void vgpu_overhead_changed(const struct vgpu_place *place);

/* Contexts of this process on the entry, for the overhead. */
extern atomic_uint vgpu_contexts[VGPU_MAX_DEVICES];

/* Pinned host memory against its quota. */
bool vgpu_charge_pinned(const struct vgpu_place *place, uint64_t bytes);
void vgpu_uncharge_pinned(const struct vgpu_place *place, uint64_t bytes);

static inline uint64_t vgpu_round(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

#endif
