/*
 * What programs ask NVML about processes beside what the agent asks: lists of older ages, and utilisation. The latter is
 * as useless as a real card's: every process that is there is shown with the whole card's figure (one sample in 200 ms).
 */
#include <string.h>
#include <time.h>

#include "fake.h"

enum { SAMPLE_US = 200000, MOST = 1024 };

/* The newest list, cut down to the oldest form. */
static nvmlReturn_t old_list(nvmlReturn_t (*newest)(nvmlDevice_t, unsigned int *, nvmlProcessInfo_t *), nvmlDevice_t device,
                             unsigned int *count, nvmlProcessInfo_v1_t *infos) {
  nvmlProcessInfo_t now[MOST];
  if (count == NULL || (*count > 0 && infos == NULL)) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned room = *count < MOST ? *count : MOST;
  *count = room;
  nvmlReturn_t result = newest(device, count, now);
  for (unsigned i = 0; i < *count && i < room; i++) infos[i] = (nvmlProcessInfo_v1_t){now[i].pid, now[i].usedGpuMemory};
  return result;
}

nvmlReturn_t fake_nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v1_t *infos) {
  return old_list(fake_nvmlDeviceGetComputeRunningProcesses_v3, device, count, infos);
}

nvmlReturn_t fake_nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                          nvmlProcessInfo_v2_t *infos) {
  return fake_nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}

nvmlReturn_t fake_nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v1_t *infos) {
  return old_list(fake_nvmlDeviceGetGraphicsRunningProcesses_v3, device, count, infos);
}

nvmlReturn_t fake_nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                           nvmlProcessInfo_v2_t *infos) {
  return fake_nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, infos);
}

/* Nobody runs under MPS here. */
static nvmlReturn_t nobody(nvmlDevice_t device, unsigned int *count) {
  struct fake_target t;
  if (count == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  *count = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                          nvmlProcessInfo_v1_t *infos) {
  (void)infos;
  return nobody(device, count);
}

nvmlReturn_t fake_nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                             nvmlProcessInfo_v2_t *infos) {
  (void)infos;
  return nobody(device, count);
}

nvmlReturn_t fake_nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                             nvmlProcessInfo_t *infos) {
  (void)infos;
  return nobody(device, count);
}

nvmlReturn_t fake_nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *list) {
  nvmlProcessInfo_t now[MOST];
  if (list == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (list->version != NVML_DETAIL_LIST_V1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  if (list->mode > 2 || (list->numProcArrayEntries > 0 && list->procArray == NULL)) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned room = list->numProcArrayEntries < MOST ? list->numProcArrayEntries : MOST, count = room;
  if (list->mode != 0) return nobody(device, &list->numProcArrayEntries); /* graphics, MPS */
  nvmlReturn_t result = fake_nvmlDeviceGetComputeRunningProcesses_v3(device, &count, now);
  for (unsigned i = 0; i < count && i < room; i++) {
    list->procArray[i] = (nvmlProcessDetail_v1_t){.pid = now[i].pid,
                                                  .usedGpuMemory = now[i].usedGpuMemory,
                                                  .gpuInstanceId = now[i].gpuInstanceId,
                                                  .computeInstanceId = now[i].computeInstanceId};
  }
  list->numProcArrayEntries = count;
  return result;
}

/* ---- utilisation ----------------------------------------------------------------------------------------------------- */

struct sampled {
  unsigned long long at_us;
  unsigned count, percent;
  nvmlProcessInfo_t processes[MOST];
};

/* The last sample, if it is newer than `since`. */
static nvmlReturn_t sample(nvmlDevice_t device, unsigned long long since, struct sampled *s) {
  struct fake_device *card = NULL;
  struct timespec now;
  int index = 0;
  nvmlReturn_t result = fake_card(device, &card, &index);
  if (result != NVML_SUCCESS) return result;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  s->at_us = ((unsigned long long)now.tv_sec * 1000000u + (unsigned long long)now.tv_nsec / 1000u) / SAMPLE_US * SAMPLE_US;
  s->count = MOST;
  s->percent = cards_busy_percent(index);
  result = fake_nvmlDeviceGetComputeRunningProcesses_v3(device, &s->count, s->processes);
  if (result != NVML_SUCCESS) return result;
  return s->count == 0 || s->at_us <= since ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                                  unsigned int *count, unsigned long long since) {
  struct sampled s;
  if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = sample(device, since, &s);
  if (result != NVML_SUCCESS) return result;
  unsigned room = samples == NULL ? 0 : *count;
  *count = s.count;
  if (s.count > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < s.count; i++) {
    samples[i] = (nvmlProcessUtilizationSample_t){.pid = s.processes[i].pid, .timeStamp = s.at_us, .smUtil = s.percent};
  }
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *info) {
  struct sampled s;
  if (info == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (info->version != NVML_PROCESSES_UTILIZATION_V1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  nvmlReturn_t result = sample(device, info->lastSeenTimeStamp, &s);
  if (result != NVML_SUCCESS) return result;
  unsigned room = info->procUtilArray == NULL ? 0 : info->processSamplesCount;
  info->processSamplesCount = s.count;
  if (s.count > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < s.count; i++) {
    info->procUtilArray[i] =
        (nvmlProcessUtilizationInfo_v1_t){.timeStamp = s.at_us, .pid = s.processes[i].pid, .smUtil = s.percent};
  }
  return NVML_SUCCESS;
}

/* ---- settings: a card takes them, so that a test sees what should not have come through --------------------------------- */

static nvmlReturn_t accept(nvmlDevice_t device) {
  struct fake_device *card = NULL;
  return fake_card(device, &card, NULL);
}

nvmlReturn_t fake_nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode) {
  return mode > 3 ? NVML_ERROR_INVALID_ARGUMENT : accept(device);
}

nvmlReturn_t fake_nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return mode > 1 ? NVML_ERROR_INVALID_ARGUMENT : accept(device);
}

nvmlReturn_t fake_nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t *status) {
  if (mode > 1 || status == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *status = NVML_SUCCESS;
  return accept(device);
}

nvmlReturn_t fake_nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return mode > 1 ? NVML_ERROR_INVALID_ARGUMENT : accept(device);
}

nvmlReturn_t fake_nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit) {
  return limit == 0 ? NVML_ERROR_INVALID_ARGUMENT : accept(device);
}

nvmlReturn_t fake_nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int low, unsigned int high) {
  return low > high ? NVML_ERROR_INVALID_ARGUMENT : accept(device);
}

nvmlReturn_t fake_nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) { return accept(device); }

nvmlReturn_t fake_nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) { return accept(device); }

/* ---- the table without names, of driver 580: only the entry that lists processes is there */

enum { TABLE_BYTES = 2160, TABLE_PROCESSES = 213 };

/* Not by the exported names: those may be another library's. */
static nvmlReturn_t private_list(nvmlDevice_t device, unsigned int *count, void *infos, unsigned int version) {
  if (version < 1 || version > 3) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = fake_enter(FN_nvmlDeviceGetComputeRunningProcesses_v3, FAKE_CALL_DEV, device);
  if (result != NVML_SUCCESS) return result;
  result = version == 1 ? fake_nvmlDeviceGetComputeRunningProcesses(device, count, infos)
                        : fake_nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
  fake_leave();
  return result;
}

nvmlReturn_t fake_nvmlInternalGetExportTable(const void **table, const void *uuid) {
  static const unsigned char known[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                          0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
  static const void *entries[TABLE_BYTES / sizeof(void *)] = {(const void *)(uintptr_t)TABLE_BYTES};
  if (table == NULL || uuid == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (memcmp(uuid, known, sizeof known) != 0) return NVML_ERROR_NOT_FOUND;
  entries[TABLE_PROCESSES] = (const void *)private_list;
  *table = entries;
  return NVML_SUCCESS;
}
