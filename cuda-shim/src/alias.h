/*
 * Limits by the names that two other libraries read from the environment: for programs that are tried out without an agent,
 * only where there is no `limits` and no CUDA_SHIM_CONFIG_DIR (cuda-shim.md 3.5).
 *
 *   CUDA_MEM_LIMIT[_i], CUDA_DEVICE_MEMORY_LIMIT[_i]   bytes, or with K, M, G, T (of 1024); 0: no limit
 *   CUDA_CORE_LIMIT[_i], CUDA_DEVICE_SM_LIMIT[_i]      per cent, 0 to 100; 0 and 100: no limit
 *
 * i is the device's ordinal in this process and wins over the name without it; of two names the first one wins. What is
 * malformed counts as not set, with one line about it.
 */
#ifndef VGPU_ALIAS_H
#define VGPU_ALIAS_H

#include <stdbool.h>

#include "vgpu/abi.h"

/* Fills zeroed limits, entry i for ordinal i, with UUIDs left empty. False: nothing limits anything. */
bool vgpu_alias_limits(struct vgpu_limits *limits);

#endif
