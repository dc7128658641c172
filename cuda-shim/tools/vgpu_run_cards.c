#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_types.h"
#include "vgpu_run.h"

static void *nvml;

/* A function of NVML as a pointer of its type; ends the program if it is not there. */
static void *function(const char *name) {
  void *at = dlsym(nvml, name);
  if (at == NULL) run_fail("the driver's libnvidia-ml.so.1 has no %s", name);
  return at;
}

/* NVML counts cores; how many make a multiprocessor depends on the architecture. 0: one that we do not know. */
static uint32_t multiprocessors(unsigned cores, int major, int minor) {
  unsigned each = major == 3                  ? 192
                  : major == 5                ? 128
                  : major == 7                ? 64
                  : major == 6 || major == 8  ? (minor == 0 ? 64 : 128)
                  : major >= 9 && major <= 12 ? 128
                                              : 0;
  return each == 0 ? 0 : cores / each;
}

#define NVML(name, ...)              \
  nvmlReturn_t (*name)(__VA_ARGS__); \
  {                                  \
    void *at = function(#name);      \
    memcpy(&name, &at, sizeof at);   \
  }

unsigned run_cards(struct run_card cards[RUN_CARDS]) {
  nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == NULL) run_fail("no NVIDIA driver: %s", dlerror());
  NVML(nvmlInit_v2, void)
  NVML(nvmlShutdown, void)
  NVML(nvmlDeviceGetCount_v2, unsigned *)
  NVML(nvmlDeviceGetHandleByIndex_v2, unsigned, nvmlDevice_t *)
  NVML(nvmlDeviceGetUUID, nvmlDevice_t, char *, unsigned)
  NVML(nvmlDeviceGetName, nvmlDevice_t, char *, unsigned)
  NVML(nvmlDeviceGetMemoryInfo, nvmlDevice_t, nvmlMemory_t *)
  NVML(nvmlDeviceGetNumGpuCores, nvmlDevice_t, unsigned *)
  NVML(nvmlDeviceGetCudaComputeCapability, nvmlDevice_t, int *, int *)
  nvmlReturn_t status = nvmlInit_v2();
  if (status != NVML_SUCCESS) run_fail("the driver answers nvmlInit_v2 with %d", status);
  unsigned count = 0, found = 0;
  status = nvmlDeviceGetCount_v2(&count);
  if (status != NVML_SUCCESS) run_fail("the driver answers nvmlDeviceGetCount_v2 with %d", status);
  for (unsigned i = 0; i < count && found < RUN_CARDS; i++) {
    struct run_card *c = &cards[found];
    nvmlDevice_t device;
    nvmlMemory_t memory = {0, 0, 0};
    *c = (struct run_card){.index = i};
    if (nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_SUCCESS) continue; /* lost, or not ours to use */
    if (nvmlDeviceGetUUID(device, c->uuid, sizeof c->uuid) != NVML_SUCCESS) continue;
    if (nvmlDeviceGetName(device, c->name, sizeof c->name) != NVML_SUCCESS) c->name[0] = '\0';
    if (nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS) c->total_bytes = memory.total;
    unsigned cores = 0;
    int major = 0, minor = 0;
    if (nvmlDeviceGetNumGpuCores(device, &cores) == NVML_SUCCESS &&
        nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS)
      c->multiprocessors = multiprocessors(cores, major, minor);
    found++;
  }
  (void)nvmlShutdown();
  (void)dlclose(nvml);
  if (found == 0) run_fail("the driver shows no card");
  return found;
}

const struct run_card *run_card_named(const struct run_card *cards, unsigned count, const char *gpu) {
  char *end;
  unsigned long index = strtoul(gpu, &end, 10);
  bool by_index = gpu[0] >= '0' && gpu[0] <= '9' && *end == '\0';
  for (unsigned i = 0; i < count; i++) {
    if (by_index ? cards[i].index == index : strcmp(cards[i].uuid, gpu) == 0) return &cards[i];
  }
  if (!by_index && strncmp(gpu, "GPU-", 4) != 0)
    run_fail("--gpu: \"%s\": must be an index, or a UUID that begins with GPU-", gpu);
  run_fail("--gpu: \"%s\": no such card; there %s %u (--list shows %s)", gpu, count == 1 ? "is" : "are", count,
           count == 1 ? "it" : "them");
}
