/*
 * What a program is told of its memory, and what it can have: asks for the total, then takes pieces of 64 MiB until it is refused.
 * JSON. For demonstrations; takes everything that it gets back before it ends.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "gpu.h"

#define PIECE_MIB 64
#define MAX_PIECES 4096

int main(void) {
  static CUdeviceptr pieces[MAX_PIECES];
  struct gpu gpu;
  gpu_open(&gpu);
  size_t available;
  size_t total;
  gpu_check(gpu.shim.cuMemGetInfo_v2(&available, &total), "cuMemGetInfo_v2");
  int taken = 0;
  CUresult refused = CUDA_SUCCESS;
  while (taken < MAX_PIECES) {
    refused = gpu.shim.cuMemAlloc_v2(&pieces[taken], (size_t)PIECE_MIB << 20);
    if (refused != CUDA_SUCCESS) {
      break;
    }
    taken++;
  }
  printf("{\"total_mib\": %zu, \"free_mib\": %zu, \"given_mib\": %d, \"error\": %d}\n", total >> 20, available >> 20,
         taken * PIECE_MIB, (int)refused);
  for (int i = 0; i < taken; i++) {
    gpu_check(gpu.shim.cuMemFree_v2(pieces[i]), "cuMemFree_v2");
  }
  return 0;
}
