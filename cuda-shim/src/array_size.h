/* What an array takes. */
#ifndef VGPU_ARRAY_SIZE_H
#define VGPU_ARRAY_SIZE_H

#include <stdbool.h>

#include "cuda_types.h"

/* Bytes of the array with its levels; UINT64_MAX where the numbers are beyond any card. Sparse and deferred arrays: 0. */
uint64_t vgpu_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels);

#endif
