/*
 * What the library adds to a call, measured in one process: blocks through its hook and blocks straight into the driver take
 * turns, and the differences of neighbouring blocks are averaged. Says whose code the measured pointers are. JSON.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu.h"
#include "paired.h"
#include "vgpu/abi.h"

struct measure {
  const char *name;
  int pairs;
  int calls; /* in a block */
  void (*block)(const struct gpu *, const struct functions *, int calls);
  const void *hook;
};

static void launches(const struct gpu *gpu, const struct functions *f, int calls) {
  for (int i = 0; i < calls; i++) {
    f->cuLaunchKernel(gpu->empty, 1, 1, 1, 32, 1, 1, 0, gpu->stream, NULL, NULL);
  }
}

static void allocations(const struct gpu *gpu, const struct functions *f, int calls) {
  (void)gpu;
  for (int i = 0; i < calls; i++) {
    CUdeviceptr p;
    gpu_check(f->cuMemAlloc_v2(&p, 1 << 20), "cuMemAlloc_v2");
    f->cuMemFree_v2(p);
  }
}

static void pool_allocations(const struct gpu *gpu, const struct functions *f, int calls) {
  for (int i = 0; i < calls; i++) {
    CUdeviceptr p;
    gpu_check(f->cuMemAllocAsync(&p, 1 << 20, gpu->stream), "cuMemAllocAsync");
    f->cuMemFreeAsync(p, gpu->stream);
  }
}

struct run {
  const struct gpu *gpu;
  const struct measure *measure;
};

static double block_ns(void *self, bool with) {
  const struct gpu *gpu = ((struct run *)self)->gpu;
  const struct measure *m = ((struct run *)self)->measure;
  int64_t from = now_ns();
  m->block(gpu, with ? &gpu->shim : &gpu->native, m->calls);
  int64_t to = now_ns();
  gpu_check(gpu->native.cuStreamSynchronize(gpu->stream), "cuStreamSynchronize");
  return (double)(to - from) / m->calls;
}

static void measure(const struct gpu *gpu, const struct measure *m) {
  struct run run = {gpu, m};
  struct paired result = paired_measure(block_ns, &run, m->pairs);
  printf("  \"%s\": {", m->name);
  paired_print(&result);
  printf(", \"calls\": %d, \"owner\": \"%s\"},\n", m->calls, owner_of(m->hook));
}

/* Time that launches have waited by the container's own books; -1 where there are none. */
static double waited_ms(void) {
  const char *folder = getenv("CUDA_SHIM_CONFIG_DIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/usage", folder == NULL ? "" : folder);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (folder == NULL || file < 0) {
    return -1;
  }
  struct vgpu_usage *usage = mmap(NULL, sizeof *usage, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (usage == MAP_FAILED) {
    return -1;
  }
  double ms = (double)usage->devices[0].throttle_ns / 1e6;
  munmap(usage, sizeof *usage);
  return ms;
}

int main(int argc, char **argv) {
  int scale = argc > 1 ? atoi(argv[1]) : 1;
  if (scale < 1 || scale > 8) {
    fprintf(stderr, "%s: must be 1 to 8, how many times as many pairs\n", argv[1]);
    return 2;
  }
  struct gpu gpu;
  gpu_open(&gpu);
  const struct measure all[] = {
      {"launch", 150 * scale, 4000, launches, *(void *const *)&gpu.shim.cuLaunchKernel},
      {"malloc_free_1mib", 300 * scale, 10, allocations, *(void *const *)&gpu.shim.cuMemAlloc_v2},
      {"malloc_async_free_1mib", 400 * scale, 100, pool_allocations, *(void *const *)&gpu.shim.cuMemAllocAsync},
  };
  double before = waited_ms();
  printf("{\n");
  for (int i = 0; i < 3; i++) {
    measure(&gpu, &all[i]);
  }
  printf("  \"waited_ms\": %.3f\n}\n", waited_ms() - (before < 0 ? 0 : before));
  return 0;
}
