/*
 * What a program is told of its memory, and what it can have: asks for the total, then takes pieces of 64 MiB until it is refused.
 * JSON. For demonstrations; takes everything that it gets back before it ends. With --hold SECONDS it takes nothing, keeps its
 * context, and tells what is said to be free at the beginning and at the end.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"

#define PIECE_MIB 64
#define MAX_PIECES 4096

static size_t free_bytes(const struct gpu *gpu) {
  size_t available;
  size_t total;
  gpu_check(gpu->shim.cuMemGetInfo_v2(&available, &total), "cuMemGetInfo_v2");
  return available;
}

/* Asks now and then, as programs do when they allocate. */
static int hold(const struct gpu *gpu, int seconds) {
  size_t first = free_bytes(gpu);
  size_t last = first;
  for (int i = 0; i < 10 * seconds; i++) {
    struct timespec tenth = {0, 100000000};
    nanosleep(&tenth, NULL);
    last = free_bytes(gpu);
  }
  printf("{\"free_mib_first\": %zu, \"free_mib_last\": %zu}\n", first >> 20, last >> 20);
  return 0;
}

int main(int argc, char **argv) {
  static CUdeviceptr pieces[MAX_PIECES];
  struct gpu gpu;
  int seconds = argc == 3 && strcmp(argv[1], "--hold") == 0 ? atoi(argv[2]) : 0;
  if (argc != 1 && (seconds < 1 || seconds > 600)) {
    fprintf(stderr, "usage: %s [--hold SECONDS]\n", argv[0]);
    return 2;
  }
  gpu_open(&gpu);
  if (seconds > 0) {
    return hold(&gpu, seconds);
  }
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
