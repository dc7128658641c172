/*
 * Stream-ordered memory. A pool is charged with what it has reserved of the card, whether handed out or not; nothing ever
 * waits for a stream. See pool.c for how growth is charged before it happens.
 */
#ifndef VGPU_POOL_H
#define VGPU_POOL_H

#include "devices.h"

/* One allocation from a pool, from before the driver's call until after it. */
struct vgpu_pool_use {
  struct vgpu_pool *pool; /* null: not ours to charge */
  uint64_t need, reserved;
};

/* `pool` null: the present pool of the place's device. False: does not fit. */
bool vgpu_pool_before(const struct vgpu_place *place, CUmemoryPool pool, uint64_t size, struct vgpu_pool_use *use);
void vgpu_pool_after(const struct vgpu_place *place, struct vgpu_pool_use *use, bool success);

/* A pool of another process, or of the host: never charged here. */
void vgpu_pool_foreign(CUmemoryPool pool);
/* A pool of this process, with where it lies. */
void vgpu_pool_made(CUmemoryPool pool, CUmemLocation location);

/*
 * A pool that is destroyed while memory of it is out lives on, without a name, until that is freed: its part stays charged
 * and is given back as its pointers are. `gone` before the driver's call; its answer to `kept` if the driver refused.
 */
uint64_t vgpu_pool_gone(const struct vgpu_cuda *cuda, CUmemoryPool pool);
void vgpu_pool_kept(const struct vgpu_cuda *cuda, CUmemoryPool pool, uint64_t out);
/* Around the free of a pointer that is in no table: what it has of such a pool, 0 nearly always. */
uint64_t vgpu_pool_orphan(const struct vgpu_cuda *cuda, CUdeviceptr pointer);
void vgpu_pool_orphan_freed(const struct vgpu_cuda *cuda, uint64_t size);

/* The device has another present pool than it had. */
void vgpu_pool_switched(CUdevice device);
/* The pool may have given memory back. */
void vgpu_pool_read(const struct vgpu_cuda *cuda, CUmemoryPool pool);

/* Reads what all pools of this process on the place's device hold; `shrink`: also gives back what lies idle. */
void vgpu_pools_read(const struct vgpu_place *place);
void vgpu_pools_shrink(const struct vgpu_place *place);

/* Graphs that allocate keep their memory in a pool of the device that has no handle. */
void vgpu_graph_memory_read(const struct vgpu_place *place);
extern atomic_uint vgpu_graphs_allocate; /* not 0 once a graph of this process has allocated */

void vgpu_pools_forget(void);

#endif
