/*
 * NVIDIA's own programs ask NVML for a table of functions without names. nvidia-smi finds the processes of a card there
 * (--query-compute-apps), past every function that has a name, and would list all of the host's. Where the table is one that
 * we know, it gets a copy with our entry in that place; any other passes as it is.
 *
 * Known is what was seen on a real card: which entry was called with (device, count, list, version of the list's element).
 */
#include "hooks.h"
#include "lock.h"
#include "text.h"

#define DRIVER "580." /* of which the table is */
enum { BYTES = 2160, ENTRIES = BYTES / sizeof(void *), PROCESSES = 213 };

static const unsigned char known[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                        0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

typedef nvmlReturn_t (*lister)(nvmlDevice_t device, unsigned int *count, void *infos, unsigned int version);

static vgpu_lock lock;
static const void *copied_from;
static const void *copy[ENTRIES];
static lister drivers_own;

static nvmlReturn_t list_processes(nvmlDevice_t device, unsigned int *count, void *infos, unsigned int version) {
  switch (version) {
    case 1: return vgpu_on_nvmlDeviceGetComputeRunningProcesses(device, count, infos);
    case 2: return vgpu_on_nvmlDeviceGetComputeRunningProcesses_v2(device, count, infos);
    case 3: return vgpu_on_nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
    default: return drivers_own(device, count, infos, version);
  }
}

static bool is_known(const struct vgpu_nvml *nvml, const void *table, const unsigned char *uuid) {
  char driver[96] = "";
  for (unsigned i = 0; i < sizeof known; i++) {
    if (uuid[i] != known[i]) return false;
  }
  if (*(const size_t *)table != BYTES || nvml->nvmlSystemGetDriverVersion == NULL) return false;
  return nvml->nvmlSystemGetDriverVersion(driver, sizeof driver) == NVML_SUCCESS && text_after(driver, DRIVER) != NULL;
}

nvmlReturn_t vgpu_on_nvmlInternalGetExportTable(const void **table, const void *uuid) {
  const struct vgpu_nvml *nvml = atomic_load_explicit(&vgpu_nvml_table, memory_order_acquire);
  nvmlReturn_t result = nvml->nvmlInternalGetExportTable(table, uuid);
  if (result != NVML_SUCCESS || table == NULL || *table == NULL || uuid == NULL || !is_known(nvml, *table, uuid)) return result;
  if (!lock_take(&lock)) return result;
  if (copied_from == NULL) {
    const void *const *from = *table;
    drivers_own = (lister)(uintptr_t)from[PROCESSES];
    for (unsigned i = 0; i < ENTRIES; i++) copy[i] = from[i];
    copy[PROCESSES] = (const void *)list_processes;
    copied_from = *table;
  }
  if (copied_from == *table) *table = copy;
  lock_give(&lock);
  return result;
}
