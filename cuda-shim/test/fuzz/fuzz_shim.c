/*
 * The regions as the library itself reads them: whatever a neighbour in the container or a broken agent has put there, a
 * call comes back, with one of the few answers that it may give.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"
#include "process.h"

enum { ROUNDS = 64 };

static struct vgpu_limits good_limits_copy;

static void allow(CUresult result) {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY && result != CUDA_ERROR_SYSTEM_NOT_READY &&
      result != CUDA_ERROR_INVALID_VALUE) {
    abort();
  }
}

/* What programs do, with everything that looks at the regions. */
static void use_them(struct fuzz *f) {
  CUdeviceptr at = 0;
  size_t available = 0, total = 0;
  allow(vgpu_on_cuMemAlloc_v2(&at, (1 + fuzz_below(f, 64)) * MODEL_MIB));
  if (at != 0) allow(vgpu_on_cuMemFree_v2(at));
  allow(vgpu_on_cuMemGetInfo_v2(&available, &total));
  if (available > total) abort();
  at = 0;
  allow(vgpu_on_cuMemAllocAsync(&at, MODEL_MIB, NULL));
  if (at != 0) allow(vgpu_on_cuMemFreeAsync(at, NULL));
}

static void scribble(struct fuzz *f) {
  struct vgpu_usage *u = regions.usage;
  fuzz_mutate(f, (unsigned char *)&u->header.slot_high_water, 16);
  fuzz_mutate(f, (unsigned char *)u->devices, sizeof u->devices);
  fuzz_mutate(f, (unsigned char *)u->slots, 16 * sizeof u->slots[0]);
  fuzz_mutate(f, (unsigned char *)&u->slots[fuzz_below(f, VGPU_SLOTS)], sizeof u->slots[0]);
  fuzz_mutate(f, (unsigned char *)u->exports, sizeof u->exports);
  fuzz_mutate(f, (unsigned char *)regions.load, sizeof *regions.load);
  if (fuzz_below(f, 4) == 0) fuzz_mutate(f, (unsigned char *)regions.limits->devices, 2 * sizeof regions.limits->devices[0]);
}

/* A region that is opened while it is anything at all. */
static void open_them(struct fuzz *f) {
  fuzz_mutate(f, (unsigned char *)regions.limits, VGPU_HEADER_BYTES + 16);
  fuzz_mutate(f, (unsigned char *)regions.usage, VGPU_HEADER_BYTES);
  library_forget();
  allow(vgpu_on_cuInit(0));
}

static void fresh(void) {
  model_begin(1024);
  regions_begin(256, VGPU_LIMIT_MEMORY | VGPU_LIMIT_OVERSUBSCRIBE);
  if (vgpu_on_cuInit(0) != CUDA_SUCCESS) abort();
  good_limits_copy = *regions.limits;
}

static uint64_t started;

static uint64_t block(struct fuzz *f) {
  fresh();
  for (int i = 0; i < ROUNDS; i++) {
    scribble(f);
    use_them(f);
    if (i == ROUNDS - 4) open_them(f);
    if (vgpu_process_claimed() != NULL) started++;
    *regions.limits = good_limits_copy;
  }
  return ROUNDS;
}

static const char *wrong(uint64_t rounds) {
  return started > rounds / 2 ? NULL : "most rounds were in a process that had not started";
}

int main(int argc, char **argv) {
  if (setenv("CUDA_SHIM_LOG", "0", 1) != 0) return 2;
  return fuzz_main(argc, argv, &(struct fuzz_target){.rounds = 20000, .block = block, .wrong = wrong});
}
