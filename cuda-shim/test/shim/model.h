/*
 * A driver of a few hundred lines for tests of the library's own objects: real pointers in the table that the library calls
 * through. It keeps what a card would: bytes per allocation, contexts, pools. Nothing runs on it.
 */
#ifndef VGPU_TEST_MODEL_H
#define VGPU_TEST_MODEL_H

#include "driver.h"
#include "vgpu/abi.h"

#define MODEL_MIB ((uint64_t)1 << 20)

struct model {
  uint64_t total;       /* of the card */
  _Atomic int64_t used; /* all allocations, without contexts */
  _Atomic int64_t peak;
  CUresult fail_next; /* the next call that allocates or frees answers this */
  int devices;
  CUdevice current;
  CUcontext ctx;
  int primary_count;
  uint64_t pool_step; /* by which a pool grows */
  uint64_t pool_reserved, pool_used;
  uint64_t graph_reserved;
  int capturing;
  int managed_works;
  atomic_int calls, queries, synchronisations, managed_calls;
};
extern struct model model;

/* A fresh card of so many MiB, and the library's table pointing to it. */
void model_begin(uint64_t mib);

/* The regions of a container in a new directory, named to the library by the environment; device 0 is the model's first. */
struct model_regions {
  struct vgpu_limits *limits;
  struct vgpu_usage *usage;
  struct vgpu_load *load;
  char directory[64];
};
extern struct model_regions regions;
void regions_begin(uint64_t memory_mib, uint32_t flags);

/* Everything that the library remembers is forgotten: a new process, as far as it can tell. */
void library_forget(void);

#endif
