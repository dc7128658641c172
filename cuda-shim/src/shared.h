/*
 * The container's three regions, and whether this process is limited at all. Decided once, at the first use of the driver:
 *
 *   PASSIVE  no `limits` below VGPU_CONFIG_ROOT: nothing was asked of us, the driver is called directly
 *   ACTIVE   mapped and sound; or made up from the environment, for this process alone
 *   BROKEN   there is one that cannot be used: nothing may run, since it would run without limits
 */
#ifndef VGPU_SHARED_H
#define VGPU_SHARED_H

#include <stdbool.h>

#include "vgpu/abi.h"

enum vgpu_mode { VGPU_PASSIVE, VGPU_ACTIVE, VGPU_BROKEN };

struct vgpu_shared {
  enum vgpu_mode mode;
  uint32_t devices;                 /* entries of limits in use */
  const struct vgpu_limits *limits; /* not null where ACTIVE, likewise usage */
  const struct vgpu_load *load;     /* may be null: no refunds, no measured overhead */
  struct vgpu_usage *usage;
  struct vgpu_limits *own; /* not null: limits and usage are of this process alone, and limits' entries go by ordinal */
  char directory[192];
};

/* Any thread; opens at the first call, in a process and in all that fork from it later. No descriptor stays open. */
const struct vgpu_shared *vgpu_shared(void);

/* Where containers' directories are looked for. Tests point it elsewhere; nothing outside a program's own code can. */
extern const char *vgpu_config_root;

/* One entry of limits, copied whole. */
struct vgpu_limit {
  uint32_t flags;
  uint32_t context_mib;
  uint64_t memory, physical; /* bytes; equal unless oversubscribed */
  uint64_t pinned;
  uint32_t core_hard_permille, core_soft_permille, sm_count;
  uint32_t runahead_us, burst_us, max_stall_ms;
};

/* By the seqlock; after VGPU_SEQLOCK_TRIES the last good copy of this process. False: never one, or the entry is unused. */
bool vgpu_limit_read(const struct vgpu_shared *shared, uint32_t device, struct vgpu_limit *out);

/* For tests: forgets what was found. */
void vgpu_shared_forget(void);

#endif
