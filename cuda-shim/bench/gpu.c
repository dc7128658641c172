#define _GNU_SOURCE
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCKS 1056U /* eight for each multiprocessor of the largest card */
#define THREADS 256U

/* Only the fake driver of test/fake takes this for code: there the rounds are a kernel's nanoseconds. */
static const char FAKE[] = "vgpu-fake-kernel name=empty ns=1\nvgpu-fake-kernel name=spin argument=1\n";

static const char PTX[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry spin(.param .u64 sink, .param .u64 rounds) {\n"
    "  .reg .pred %p; .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [sink];\n  ld.param.u64 %rd2, [rounds];\n  cvt.u32.u64 %r1, %rd2;\n"
    "  mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F7FFFFF; mov.u32 %r2, 0;\n"
    "again:\n  fma.rn.f32 %f1, %f1, %f2, %f2;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p, %r2, %r1;\n  @%p bra again;\n"
    "  setp.eq.f32 %p, %f1, 0f00000000;\n  @!%p bra end;\n  st.global.f32 [%rd1], %f1;\n"
    "end:\n  ret;\n}\n";

int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void gpu_check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) {
    fprintf(stderr, "%s: error %d\n", what, (int)result);
    exit(1);
  }
}

static void *required(void *address, const char *name) {
  if (address == NULL) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(1);
  }
  return address;
}

void gpu_open(struct gpu *gpu) {
  memset(gpu, 0, sizeof *gpu);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) {
    fprintf(stderr, "no GPU driver: %s\n", dlerror());
    exit(77); /* what test runners take for skipped */
  }
#define F(name, parameters)                                          \
  *(void **)&gpu->shim.name = required(dlsym(driver, #name), #name); \
  *(void **)&gpu->native.name = required(symbol_of("libcuda.so", #name), #name);
  BENCH_FUNCTIONS(F)
#undef F
  gpu_check(gpu->shim.cuInit(0), "cuInit");
  CUdevice device;
  gpu_check(gpu->shim.cuDeviceGet(&device, 0), "cuDeviceGet");
  gpu_check(gpu->shim.cuDevicePrimaryCtxRetain(&gpu->context, device), "cuDevicePrimaryCtxRetain");
  gpu_check(gpu->shim.cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent");
  CUmodule module;
  int fake = dlsym(driver, "fakeCudaCalls") != NULL;
  gpu_check(gpu->shim.cuModuleLoadData(&module, fake ? FAKE : PTX), "cuModuleLoadData");
  gpu_check(gpu->shim.cuModuleGetFunction(&gpu->empty, module, "empty"), "empty");
  gpu_check(gpu->shim.cuModuleGetFunction(&gpu->spin, module, "spin"), "spin");
  gpu_check(gpu->shim.cuStreamCreate(&gpu->stream, 1), "cuStreamCreate");
  gpu_check(gpu->shim.cuMemAlloc_v2(&gpu->sink, 4096), "cuMemAlloc_v2");
}

void gpu_spin(const struct gpu *gpu, const struct functions *through, unsigned rounds) {
  CUdeviceptr sink = gpu->sink;
  uint64_t count = rounds;
  void *arguments[] = {&sink, &count};
  gpu_check(through->cuLaunchKernel(gpu->spin, BLOCKS, 1, 1, THREADS, 1, 1, 0, gpu->stream, arguments, NULL), "cuLaunchKernel");
}
