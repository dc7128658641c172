/* Our side of every row of hooks.def: vgpu_on_NAME, called where the process is limited, with the driver's table. */
#ifndef VGPU_HOOKS_H
#define VGPU_HOOKS_H

#include "driver.h"

#define CU(name, base, since, flavor, class, params, args) CUresult vgpu_on_##name params;
#define NV(name, class, params, args) nvmlReturn_t vgpu_on_##name params;
#include "hooks.def"

/* The tables inside a hook; entry.c calls a hook only when they are there. */
static inline const struct vgpu_cuda *vgpu_driver(void) { return atomic_load_explicit(&vgpu_cuda_table, memory_order_acquire); }

/* Captures that run in this process; above 0 a stream may be recording. */
extern atomic_int vgpu_captures;

/* Whether what is put on the stream is recorded instead of run. A stream of which that cannot be said is. */
bool vgpu_capturing(const struct vgpu_cuda *cuda, CUstream stream, bool per_thread);

/* After cuInit has succeeded; what the program is told instead of success where the limits cannot be kept. */
CUresult vgpu_started(const struct vgpu_cuda *cuda);

#endif
