/*
 * This process in the container's `usage`: its slot, and the slots of the others. The slot is claimed at cuInit and kept
 * for life. Nothing is done at exit: whoever needs the room takes back what the dead have left.
 */
#ifndef VGPU_PROCESS_H
#define VGPU_PROCESS_H

#include <stdatomic.h>

#include "shared.h"

/* On a page that the kernel clears in a forked child, so that a child has no slot until it takes its own. */
struct vgpu_process {
  atomic_uint state; /* 0 none, 1 claiming, 2 ready */
  uint32_t slot;
  int lock_fd; /* -1: the region is of this process alone */
  int pid;
  bool check_pid; /* the kernel does not clear the page */
  uint64_t start_time;
  /* what this process holds, kept here too: a neighbour that scribbles over our slot does not change it */
  _Atomic int64_t bytes[VGPU_MAX_DEVICES];
};

/* The process with its slot, claimed if need be; null: passive, broken, or no slot to be had. Any thread. */
struct vgpu_process *vgpu_process(void);

/* Null if this process has none (yet); never claims. */
struct vgpu_process *vgpu_process_claimed(void);

static inline struct vgpu_usage_slot *vgpu_slot(const struct vgpu_shared *shared, const struct vgpu_process *p) {
  return &shared->usage->slots[p->slot];
}

/* Slots that may be in use, capped by the layout. */
uint32_t vgpu_high_water(const struct vgpu_shared *shared);

/* Frees the slots of processes that are gone; returns how many. For slow paths. */
int vgpu_reap(const struct vgpu_shared *shared);

/* Field 22 of /proc/<pid>/stat, and whether the process is a zombie; 0 if it cannot be read. */
uint64_t vgpu_start_time(int pid, bool *zombie);

/* For tests. */
void vgpu_process_forget(void);

#endif
