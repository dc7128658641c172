/* Questions whose answers change with time: memory, utilisation, processes. */
#include "fake.h"

/* The last load line that has begun; null before the first. */
static const struct fake_load *load_now(int device) {
  uint64_t now = fake_now();
  const struct fake_load *best = NULL;
  for (int i = 0; i < fake.profile.load_count; i++) {
    const struct fake_load *l = &fake.profile.loads[i];
    if (l->device != FAKE_ALL_DEVICES && l->device != device) continue;
    if (l->at <= now && (best == NULL || l->at >= best->at)) best = l;
  }
  return best;
}

static bool runs_on(const struct fake_process *p, struct fake_target t, uint64_t now) {
  return p->device == t.device && (t.mig < 0 || p->mig == t.mig) && p->at <= now && now < p->until;
}

static uint64_t used_by_processes(struct fake_target t, uint64_t most) {
  uint64_t now = fake_now(), sum = 0;
  for (int i = 0; i < fake.profile.process_count; i++) {
    const struct fake_process *p = &fake.profile.processes[i];
    if (!runs_on(p, t, now) || p->used == FAKE_NO_BYTES) continue;
    sum += p->used < most - sum ? p->used : most - sum;
  }
  if (t.mig < 0) {
    uint64_t programs = cards_used(t.device);
    sum += programs < most - sum ? programs : most - sum;
  }
  return sum;
}

struct memory {
  uint64_t total, reserved, used;
};

static struct memory memory_of(struct fake_target t) {
  const struct fake_device *dev = &fake.profile.devices[t.device];
  if (t.mig >= 0) {
    uint64_t total = (uint64_t)dev->migs[t.mig].attributes.memorySizeMB << 20;
    return (struct memory){total, 0, used_by_processes(t, total)};
  }
  const struct fake_load *load = load_now(t.device);
  bool told = load != NULL && load->used != FAKE_NO_BYTES;
  uint64_t used = told ? load->used : used_by_processes(t, dev->memory - dev->reserved);
  return (struct memory){dev->memory, dev->reserved, used};
}

nvmlReturn_t fake_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  struct fake_target t;
  if (memory == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  struct memory m = memory_of(t);
  *memory = (nvmlMemory_t){.total = m.total, .free = m.total - m.reserved - m.used, .used = m.reserved + m.used};
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
  struct fake_target t;
  if (memory == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  if (memory->version != NVML_MEMORY_V2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  struct memory m = memory_of(t);
  memory->total = m.total;
  memory->reserved = m.reserved;
  memory->free = m.total - m.reserved - m.used;
  memory->used = m.used;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
  struct fake_device *card = NULL;
  int index = 0;
  if (rates == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = fake_card(device, &card, &index);
  if (result != NVML_SUCCESS) return result;
  if (card->mig_mode == FAKE_MIG_ENABLED) return NVML_ERROR_NOT_SUPPORTED;
  const struct fake_load *load = load_now(index);
  *rates = load == NULL ? (nvmlUtilization_t){cards_busy_percent(index), 0} : (nvmlUtilization_t){load->util, load->mem_util};
  return NVML_SUCCESS;
}

static nvmlProcessInfo_t info_of(const struct fake_process *p) {
  const struct fake_mig *mig = p->mig < 0 ? NULL : &fake.profile.devices[p->device].migs[p->mig];
  return (nvmlProcessInfo_t){.pid = p->pid,
                             .usedGpuMemory = p->used, /* FAKE_NO_BYTES is NVML's "not available" */
                             .gpuInstanceId = mig == NULL ? NVML_NO_INSTANCE : mig->gi,
                             .computeInstanceId = mig == NULL ? NVML_NO_INSTANCE : mig->ci};
}

/* Programs on the fake driver; returns how many there are. */
static unsigned list_programs(struct fake_target t, bool graphics, unsigned at, unsigned room, nvmlProcessInfo_t *infos) {
  struct cards_process programs[FAKE_PROCESSES];
  if (graphics || t.mig >= 0) return 0;
  int n = cards_processes(t.device, programs, FAKE_PROCESSES);
  for (int i = 0; i < n && at + (unsigned)i < room; i++) {
    infos[at + (unsigned)i] = (nvmlProcessInfo_t){.pid = programs[i].pid,
                                                  .usedGpuMemory = programs[i].bytes,
                                                  .gpuInstanceId = NVML_NO_INSTANCE,
                                                  .computeInstanceId = NVML_NO_INSTANCE};
  }
  return (unsigned)n;
}

static nvmlReturn_t list_processes(nvmlDevice_t device, bool graphics, unsigned int *count, nvmlProcessInfo_t *infos) {
  struct fake_target t;
  if (count == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  if (*count > 0 && infos == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  uint64_t now = fake_now();
  unsigned room = *count, found = 0;
  for (int i = 0; i < fake.profile.process_count; i++) {
    const struct fake_process *p = &fake.profile.processes[i];
    if (p->graphics != graphics || !runs_on(p, t, now)) continue;
    if (found < room) infos[found] = info_of(p);
    found++;
  }
  found += list_programs(t, graphics, found, room, infos);
  *count = found;
  return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos) {
  return list_processes(device, false, count, infos);
}

nvmlReturn_t fake_nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos) {
  return list_processes(device, true, count, infos);
}
