/*
 * An ordinary program, linked with the driver: what it is given, and what it is told.   limited_program WHAT
 *   card       no limit: the card's own figures
 *   refused    cuInit says that the system is not ready
 *   memory     1024 MiB in all, with 520 for the context
 *   hold MIB   takes so much, says "held", and waits to be killed
 *   fill       takes what it gets in pieces of 8 MiB, and prints how much that was
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "../unit/check.h"
#include "cuda_types.h"
#include "nvml_view_types.h"

#define MIB ((size_t)1 << 20)

#define CU(name, base, since, flavor, class, params, args) extern CUresult name params;
#include "hooks.def"
extern nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
extern nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
extern nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos);
extern nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                             nvmlProcessInfo_t *infos);
extern CUresult cuCtxSetCurrent(CUcontext ctx);
extern nvmlReturn_t nvmlInit_v2(void);
extern nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);

static void start(void) {
  CUcontext ctx;
  CHECK_EQ(cuInit(0), CUDA_SUCCESS, "cuInit");
  CHECK_EQ(cuDevicePrimaryCtxRetain(&ctx, 0), CUDA_SUCCESS, "context");
  CHECK_EQ(cuCtxSetCurrent(ctx), CUDA_SUCCESS, "current");
}

static size_t fill(size_t piece) {
  CUdeviceptr at;
  size_t taken = 0;
  CUresult result;
  while ((result = cuMemAlloc_v2(&at, piece)) == CUDA_SUCCESS && taken < 4096 * MIB) taken += piece;
  CHECK_EQ(result, CUDA_ERROR_OUT_OF_MEMORY, "refused in the usual way");
  return taken;
}

static void told_by_nvml(nvmlDevice_t device, size_t total, size_t used) {
  nvmlMemory_t one;
  nvmlMemory_v2_t two = {.version = NVML_MEMORY_V2};
  CHECK_EQ(nvmlDeviceGetMemoryInfo(device, &one), NVML_SUCCESS, "memory");
  CHECK_EQ(one.total, total, "total");
  CHECK_EQ(one.used, used, "used");
  CHECK_EQ(one.free, total - used, "free");
  CHECK_EQ(nvmlDeviceGetMemoryInfo_v2(device, &two), NVML_SUCCESS, "memory");
  CHECK_EQ(two.total, total, "total");
  CHECK_EQ(two.used + two.free, total, "used and free");
}

static void only_its_own_processes(nvmlDevice_t device) {
  unsigned int count = 0;
  CHECK_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), NVML_ERROR_INSUFFICIENT_SIZE, "how many");
  CHECK_EQ(count, 1, "one");
  nvmlProcessInfo_t infos[4];
  count = 4;
  CHECK_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos), NVML_SUCCESS, "which");
  CHECK_EQ(count, 1, "one");
  CHECK_EQ(infos[0].pid, getpid(), "by the pid that it has here");
  CHECK_EQ(infos[0].usedGpuMemory, 1024 * MIB, "with what it holds");
  count = 4;
  CHECK_EQ(nvmlDeviceGetGraphicsRunningProcesses_v3(device, &count, infos), NVML_SUCCESS, "graphics");
  CHECK_EQ(count, 0, "none");
}

static void memory(void) {
  size_t available, total;
  nvmlDevice_t device;
  CHECK_EQ(nvmlInit_v2(), NVML_SUCCESS, "nvml");
  CHECK_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS, "card");
  told_by_nvml(device, 1024 * MIB, 0);
  start();
  CHECK_EQ(cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(total, 1024 * MIB, "total");
  CHECK_EQ(available, 504 * MIB, "without the context");
  CHECK_EQ(cuDeviceTotalMem_v2(&total, 0), CUDA_SUCCESS, "total");
  CHECK_EQ(total, 1024 * MIB, "total");
  CHECK_EQ(fill(8 * MIB), 504 * MIB, "to the last byte");
  told_by_nvml(device, 1024 * MIB, 1024 * MIB);
  only_its_own_processes(device);
  void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  CHECK(dlsym(nvml, "nvmlDeviceGetMemoryInfo") == (void *)nvmlDeviceGetMemoryInfo, "by name as by linking");
  CHECK(dlsym(nvml, "nvmlNoSuchFunction") == NULL, "a function that this NVML lacks is not there");
  nvmlReturn_t (*set_mode)(nvmlDevice_t, unsigned int);
  *(void **)&set_mode = dlsym(nvml, "nvmlDeviceSetComputeMode");
  CHECK(set_mode != NULL && set_mode(device, 2) == NVML_ERROR_NO_PERMISSION, "others use the card too");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "card") == 0) {
    size_t total = 0;
    start();
    CHECK_EQ(cuDeviceTotalMem_v2(&total, 0), CUDA_SUCCESS, "total");
    CHECK(total > 100000 * MIB, "%zu", total);
  } else if (strcmp(what, "refused") == 0) {
    CUdeviceptr at;
    CHECK_EQ(cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "cuInit");
    CHECK_EQ(cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "again");
    CHECK_EQ(cuMemAlloc_v2(&at, 1), CUDA_ERROR_SYSTEM_NOT_READY, "nothing runs");
  } else if (strcmp(what, "memory") == 0) {
    memory();
  } else if (strcmp(what, "hold") == 0 && argc == 3) {
    CUdeviceptr at;
    start();
    CHECK_EQ(cuMemAlloc_v2(&at, (size_t)atoi(argv[2]) * MIB), CUDA_SUCCESS, "alloc");
    (void)printf("held\n");
    (void)fflush(stdout);
    while (check_failures == 0) (void)pause();
  } else if (strcmp(what, "fill") == 0) {
    start();
    size_t taken = fill(8 * MIB);
    (void)printf("%zu\n", taken / MIB);
    return check_failures;
  } else {
    return 2;
  }
  return check_result();
}
