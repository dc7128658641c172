/*
 * What NVML tells inside a container: its own part of the card and its own processes, by the pids that they have there.
 * The driver lists every process of the host by host pids, which say nothing here and are nobody's business.
 */
#include "hooks.h"
#include "ledger.h"

struct view {
  const struct vgpu_nvml *nvml;
  const struct vgpu_shared *shared;
  uint8_t entry;
  bool limited; /* a card of this container's */
  struct vgpu_limit limit;
};

/* False: not a card of ours; the driver answers. */
static bool see(nvmlDevice_t device, struct view *v) {
  char uuid[96];
  v->nvml = atomic_load_explicit(&vgpu_nvml_table, memory_order_acquire);
  v->shared = vgpu_shared();
  v->entry = VGPU_NO_ENTRY;
  v->limited = false;
  if (v->shared->mode != VGPU_ACTIVE || v->nvml->nvmlDeviceGetUUID(device, uuid, sizeof uuid) != NVML_SUCCESS) return false;
  v->entry = vgpu_entry_of_uuid(v->shared, uuid);
  v->limited = v->entry != VGPU_NO_ENTRY && vgpu_limit_read(v->shared, v->entry, &v->limit);
  return v->limited;
}

/* ---- memory and utilisation */

struct memory {
  unsigned long long total, used;
};

static struct memory memory_of(const struct view *v) {
  struct vgpu_totals t = vgpu_totals(v->shared, v->entry);
  uint64_t used = t.physical + t.managed;
  return (struct memory){v->limit.memory, used < v->limit.memory ? used : v->limit.memory};
}

nvmlReturn_t vgpu_on_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  struct view v;
  bool ours = see(device, &v);
  nvmlReturn_t result = v.nvml->nvmlDeviceGetMemoryInfo(device, memory);
  if (result != NVML_SUCCESS || !ours || (v.limit.flags & VGPU_LIMIT_MEMORY) == 0) return result;
  struct memory m = memory_of(&v);
  *memory = (nvmlMemory_t){.total = m.total, .free = m.total - m.used, .used = m.used};
  return result;
}

nvmlReturn_t vgpu_on_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
  struct view v;
  bool ours = see(device, &v);
  nvmlReturn_t result = v.nvml->nvmlDeviceGetMemoryInfo_v2(device, memory);
  if (result != NVML_SUCCESS || !ours || (v.limit.flags & VGPU_LIMIT_MEMORY) == 0) return result;
  struct memory m = memory_of(&v);
  memory->total = m.total;
  memory->reserved = 0;
  memory->used = m.used;
  memory->free = m.total - m.used;
  return result;
}

/* Per cent of the card that this container uses, by its own charged time; -1 while the agent has not said. */
static int container_util(const struct view *v) {
  const struct vgpu_load *load = v->shared->load;
  if (load == NULL || __atomic_load_n(&load->devices[v->entry].sample_ns, __ATOMIC_ACQUIRE) == 0) return -1;
  uint32_t permille = __atomic_load_n(&load->devices[v->entry].container_util_permille, __ATOMIC_RELAXED);
  return permille > 1000 ? 100 : (int)(permille / 10);
}

nvmlReturn_t vgpu_on_nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
  struct view v;
  bool ours = see(device, &v);
  nvmlReturn_t result = v.nvml->nvmlDeviceGetUtilizationRates(device, rates);
  int own = ours ? container_util(&v) : -1;
  if (result == NVML_SUCCESS && own >= 0) rates->gpu = (unsigned int)own;
  return result;
}

/* ---- processes */

struct process {
  unsigned int pid;
  unsigned long long bytes;
};

/* The n-th process with something on the card; false if there are not so many. */
static bool process_at(const struct view *v, unsigned int n, struct process *out) {
  uint32_t slots = vgpu_high_water(v->shared);
  for (uint32_t k = 0; k < slots; k++) {
    const struct vgpu_usage_slot *s = &v->shared->usage->slots[k];
    if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != VGPU_SLOT_LIVE) continue;
    int64_t bytes = __atomic_load_n(&s->bytes[v->entry], __ATOMIC_RELAXED);
    uint64_t overhead = (uint64_t)__atomic_load_n(&s->overhead_pages[v->entry], __ATOMIC_RELAXED) * VGPU_PAGE_BYTES;
    if (bytes < 0) bytes = 0;
    if (((uint64_t)bytes | overhead) == 0 || n-- > 0) continue;
    *out = (struct process){(unsigned int)__atomic_load_n(&s->pid, __ATOMIC_RELAXED), (uint64_t)bytes + overhead};
    return true;
  }
  return false;
}

static unsigned int count_processes(const struct view *v) {
  struct process p;
  unsigned int n = 0;
  while (n < VGPU_SLOTS && process_at(v, n, &p)) n++;
  return n;
}

/* NVML's rule: too little room is an error that says how much is needed. Also what the driver itself has against the call. */
static nvmlReturn_t room_for(unsigned int *count, const void *infos, unsigned int needed) {
  unsigned int room = infos == NULL ? 0 : *count;
  *count = needed;
  return needed > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* Whether the driver would answer at all: an asking for the number alone. */
static nvmlReturn_t asked(nvmlReturn_t result) { return result == NVML_ERROR_INSUFFICIENT_SIZE ? NVML_SUCCESS : result; }

#define LIST(name, type, lists, more)                                                  \
  nvmlReturn_t vgpu_on_##name(nvmlDevice_t device, unsigned int *count, type *infos) { \
    struct view v;                                                                     \
    unsigned int none = 0;                                                             \
    if (!see(device, &v) || count == NULL) return v.nvml->name(device, count, infos);  \
    nvmlReturn_t result = asked(v.nvml->name(device, &none, NULL));                    \
    if (result != NVML_SUCCESS) return result;                                         \
    unsigned int room = *count;                                                        \
    result = room_for(count, infos, (lists) ? count_processes(&v) : 0);                \
    struct process p;                                                                  \
    unsigned int n = 0;                                                                \
    if (result != NVML_SUCCESS) return result;                                         \
    for (; n < *count && n < room && process_at(&v, n, &p); n++) {                     \
      infos[n] = (type){.pid = p.pid, .usedGpuMemory = p.bytes more};                  \
    }                                                                                  \
    *count = n; /* some may have gone meanwhile */                                     \
    return NVML_SUCCESS;                                                               \
  }

#define NO_INSTANCE , .gpuInstanceId = NVML_NO_INSTANCE, .computeInstanceId = NVML_NO_INSTANCE
LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, true, )
LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, true, NO_INSTANCE)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, true, NO_INSTANCE)
LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, false, )
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, false, NO_INSTANCE)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, false, NO_INSTANCE)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, false, )
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, false, NO_INSTANCE)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, false, NO_INSTANCE)

enum { MODE_COMPUTE = 0, MODE_ALL = 3 };

nvmlReturn_t vgpu_on_nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *list) {
  struct view v;
  if (!see(device, &v) || list == NULL || list->version != NVML_DETAIL_LIST_V1) {
    return v.nvml->nvmlDeviceGetRunningProcessDetailList(device, list);
  }
  nvmlProcessDetailList_t question = {.version = list->version, .mode = list->mode};
  nvmlReturn_t result = asked(v.nvml->nvmlDeviceGetRunningProcessDetailList(device, &question));
  if (result != NVML_SUCCESS) return result;
  unsigned int room = list->numProcArrayEntries, n = 0;
  bool lists = list->mode == MODE_COMPUTE || list->mode == MODE_ALL;
  result = room_for(&list->numProcArrayEntries, list->procArray, lists ? count_processes(&v) : 0);
  if (result != NVML_SUCCESS) return result;
  struct process p;
  for (; n < list->numProcArrayEntries && n < room && process_at(&v, n, &p); n++) {
    list->procArray[n] = (nvmlProcessDetail_v1_t){
        .pid = p.pid, .usedGpuMemory = p.bytes, .gpuInstanceId = NVML_NO_INSTANCE, .computeInstanceId = NVML_NO_INSTANCE};
  }
  list->numProcArrayEntries = n;
  return NVML_SUCCESS;
}

/* The driver's figures per process are neither of our processes nor true where several share the card. */
nvmlReturn_t vgpu_on_nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                                     unsigned int *count, unsigned long long since) {
  struct view v;
  if (!see(device, &v) || count == NULL) return v.nvml->nvmlDeviceGetProcessUtilization(device, samples, count, since);
  *count = 0;
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t vgpu_on_nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *info) {
  struct view v;
  if (!see(device, &v) || info == NULL) return v.nvml->nvmlDeviceGetProcessesUtilizationInfo(device, info);
  info->processSamplesCount = 0;
  return NVML_ERROR_NOT_FOUND;
}

/* ---- changes of a card that others use too */

#define REFUSE(name, params, args)                                         \
  nvmlReturn_t vgpu_on_##name params {                                     \
    struct view v;                                                         \
    return see(device, &v) ? NVML_ERROR_NO_PERMISSION : v.nvml->name args; \
  }
#define NV_INFO(name, params, args)
#define NV_PROCESS(name, params, args)
#define NV_PRIVATE(name, params, args)
#define NV_REFUSE REFUSE
#define NV(name, class, params, args) NV_##class(name, params, args)
#include "hooks.def"
