/*
 * The driver's real functions and the way from their addresses to our entry points. Found once, by looking for the library
 * that the program itself has loaded; nothing is opened in a process that never asks for the driver.
 */
#ifndef VGPU_DRIVER_H
#define VGPU_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cuda_types.h"
#include "nvml_view_types.h"

/* One pointer a row, in the order of hooks.def. A row that the driver lacks answers "not supported". */
struct vgpu_cuda {
#define CU(name, base, since, flavor, class, params, args) CUresult(*name) params;
#include "hooks.def"
#define CALL(name, params) CUresult(*name) params;
#include "calls.def"
};

struct vgpu_nvml {
#define NV(name, class, params, args) nvmlReturn_t(*name) params;
#include "hooks.def"
#define NVCALL(name, params) nvmlReturn_t(*name) params;
#include "calls.def"
};

/* Published whole and never changed: readers need no lock, and a forked child may go on with it. */
extern _Atomic(const struct vgpu_cuda *) vgpu_cuda_table;
extern _Atomic(const struct vgpu_nvml *) vgpu_nvml_table;

/*
 * The tables; null if the process has not loaded that library. `open`: load it if need be, for programs that call us
 * without having looked anything up.
 */
const struct vgpu_cuda *vgpu_cuda(bool open);
const struct vgpu_nvml *vgpu_nvml(bool open);

/* Our entry point for an address of the driver; the address itself if it is none of ours. Any thread, no lock. */
void *vgpu_entry_for(void *address);

/* Looks a name up as `real` does for its caller, and answers with our entry point where the driver has such a function. */
bool vgpu_hooked_name(const char *name, bool *present, void **entry);

#endif
