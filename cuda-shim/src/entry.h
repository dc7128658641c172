/*
 * The gate that every entry point looks at: where the process is passive, or a launch is not limited, the driver is called
 * at once, and the compiler makes a jump of it.
 */
#ifndef VGPU_ENTRY_H
#define VGPU_ENTRY_H

#include "driver.h"

/* The driver's table once the process is known to be passive, else null. */
extern _Atomic(const struct vgpu_cuda *) vgpu_passive;
extern _Atomic(const struct vgpu_nvml *) vgpu_passive_nvml;

/* The driver's table once the process has started, passive or limited, else null: for launches. */
extern _Atomic(const struct vgpu_cuda *) vgpu_launching;

/* The first call of an entry point: finds the driver and the regions. Null: there is no driver. */
const struct vgpu_cuda *vgpu_first_call(void);
const struct vgpu_nvml *vgpu_first_nvml_call(void);

/* Where the limits cannot be used nothing may run. */
bool vgpu_is_broken(void);

#endif
