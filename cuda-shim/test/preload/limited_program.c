/*
 * An ordinary program, linked with the driver: what it is given, and what it is told.   limited_program WHAT
 *   card       no limit: the card's own figures
 *   refused    cuInit says that the system is not ready
 *   memory     1024 MiB in all, with 520 for the context
 *   hold MIB   takes so much, says "held", and waits to be killed
 *   fill       takes what it gets in pieces of 8 MiB, and prints how much that was
 *   churn SEED takes and gives memory of every kind until it is killed; ends by itself only if an answer is wrong
 */
#include <dlfcn.h>
#include <stdbool.h>
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

/* As nvidia-smi looks for them: by an entry of a table without names, of the driver that the fake says it is. */
static void nor_by_the_table_without_names(nvmlDevice_t device, void *nvml) {
  static const unsigned char uuid[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                         0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
  static const unsigned char other[16] = {1};
  nvmlReturn_t (*get)(const void **, const void *);
  nvmlReturn_t (*list)(nvmlDevice_t, unsigned int *, void *, unsigned int);
  const void *const *table = NULL;
  *(void **)&get = dlsym(nvml, "nvmlInternalGetExportTable");
  CHECK_EQ(get((const void **)&table, other), NVML_ERROR_NOT_FOUND, "another table");
  for (int i = 0; i < 2; i++) {
    nvmlProcessInfo_t infos[4];
    unsigned int count = 4;
    CHECK_EQ(get((const void **)&table, uuid), NVML_SUCCESS, "the table");
    CHECK_EQ((size_t)table[0], 2160, "its size");
    *(const void **)&list = table[213];
    CHECK_EQ(list(device, &count, infos, 2), NVML_SUCCESS, "which");
    CHECK_EQ(count, 1, "one");
    CHECK_EQ(infos[0].pid, getpid(), "by the pid that it has here");
    CHECK_EQ(infos[0].usedGpuMemory, 1024 * MIB, "with what it holds");
    CHECK(table[213] != NULL && table[212] == NULL, "the rest is the driver's");
    CHECK_EQ(list(device, &count, infos, 9), NVML_ERROR_INVALID_ARGUMENT, "the driver answers what we do not know");
  }
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
  nor_by_the_table_without_names(device, nvml);
  CHECK(dlsym(nvml, "nvmlDeviceGetMemoryInfo") == (void *)nvmlDeviceGetMemoryInfo, "by name as by linking");
  CHECK(dlsym(nvml, "nvmlNoSuchFunction") == NULL, "a function that this NVML lacks is not there");
  nvmlReturn_t (*set_mode)(nvmlDevice_t, unsigned int);
  *(void **)&set_mode = dlsym(nvml, "nvmlDeviceSetComputeMode");
  CHECK(set_mode != NULL && set_mode(device, 2) == NVML_ERROR_NO_PERMISSION, "others use the card too");
}

/* ---- churn */

enum kind { LINEAR, ASYNC, ARRAY, HANDLE, KINDS };
struct held {
  enum kind kind;
  CUdeviceptr at;
  CUarray array;
  CUmemGenericAllocationHandle handle;
};

static CUresult take(struct held *h, size_t size) {
  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  CUDA_ARRAY3D_DESCRIPTOR desc = {size / 4096, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  switch (h->kind) {
    case LINEAR: return cuMemAlloc_v2(&h->at, size);
    case ASYNC: return cuMemAllocAsync(&h->at, size, NULL);
    case ARRAY: return cuArray3DCreate_v2(&h->array, &desc);
    default: return cuMemCreate(&h->handle, size, &prop, 0);
  }
}

static CUresult give(const struct held *h) {
  switch (h->kind) {
    case LINEAR: return cuMemFree_v2(h->at);
    case ASYNC: return cuMemFreeAsync(h->at, NULL);
    case ARRAY: return cuArrayDestroy(h->array);
    default: return cuMemRelease(h->handle);
  }
}

static void churn(unsigned int seed) {
  struct held held[12];
  bool taken[12] = {false};
  CUcontext ctx;
  CUresult made;
  CHECK_EQ(cuInit(0), CUDA_SUCCESS, "cuInit");
  /* a context is memory too: it may have to wait for the others */
  while ((made = cuDevicePrimaryCtxRetain(&ctx, 0)) == CUDA_ERROR_OUT_OF_MEMORY) (void)usleep(1000);
  CHECK_EQ(made, CUDA_SUCCESS, "context");
  CHECK_EQ(cuCtxSetCurrent(ctx), CUDA_SUCCESS, "current");
  while (check_failures == 0) {
    seed = seed * 1103515245u + 12345u;
    unsigned int i = seed >> 16 & 0xFFFF, slot = i % 12;
    if (taken[slot]) {
      CHECK_EQ(give(&held[slot]), CUDA_SUCCESS, "what was taken can be given");
      taken[slot] = false;
    } else {
      held[slot].kind = (enum kind)(i / 12 % KINDS);
      CUresult result = take(&held[slot], (1 + i / 48 % 24) * 2 * MIB);
      taken[slot] = result == CUDA_SUCCESS;
      CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY, "answer %d", result);
    }
    if (i % 64 == 0) CHECK_EQ(cuStreamSynchronize(NULL), CUDA_SUCCESS, "pools give back when they are waited for");
  }
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
  } else if (strcmp(what, "churn") == 0 && argc == 3) {
    churn((unsigned int)atoi(argv[2]));
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
