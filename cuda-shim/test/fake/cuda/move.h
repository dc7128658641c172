/* Copies and fills, all of them as a box of rows. */
#ifndef VGPU_FAKE_MOVE_H
#define VGPU_FAKE_MOVE_H

#include "driver.h"

struct move {
  char *to;
  const char *from; /* null: a fill */
  size_t to_pitch, to_slice, from_pitch, from_slice;
  size_t width, height, depth; /* bytes, rows, slices */
  unsigned value, element;     /* of a fill: 1, 2 or 4 bytes each */
};

void move_run(void *move);
CUresult move_of_3d(const CUDA_MEMCPY3D *p, struct move *out);
CUresult move_of_fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                      struct move *out);
/* The bytes of an array, for copies from and to it; null if it is none. */
char *array_bytes(CUarray array, size_t *pitch, size_t *slice);

#endif
