/* Questions about the system and about one device. */
#include <stdio.h>
#include <string.h>

#include "fake.h"

nvmlReturn_t fake_nvmlSystemGetDriverVersion(char *version, unsigned int length) {
  return fake_copy(version, length, fake.profile.driver);
}

nvmlReturn_t fake_nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
  return fake_copy(version, length, fake.profile.nvml);
}

nvmlReturn_t fake_nvmlSystemGetCudaDriverVersion_v2(int *version) {
  if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *version = fake.profile.cuda;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetCount_v2(unsigned int *count) {
  if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *count = (unsigned)fake.profile.device_count;
  return NVML_SUCCESS;
}

static nvmlReturn_t give_handle(int device, int mig, nvmlDevice_t *out) {
  if (fake_lost(device)) return NVML_ERROR_GPU_IS_LOST;
  *out = fake_handle(device, mig);
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
  if (device == NULL || index >= (unsigned)fake.profile.device_count) return NVML_ERROR_INVALID_ARGUMENT;
  return give_handle((int)index, -1, device);
}

nvmlReturn_t fake_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  if (uuid == NULL || device == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  for (int d = 0; d < fake.profile.device_count; d++) {
    const struct fake_device *dev = &fake.profile.devices[d];
    if (strcmp(dev->uuid, uuid) == 0) return give_handle(d, -1, device);
    for (int m = 0; m < FAKE_MIGS; m++) {
      if (dev->migs[m].present && strcmp(dev->migs[m].uuid, uuid) == 0) return give_handle(d, m, device);
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t fake_nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
  struct fake_target t;
  char text[128];
  if (!fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  const struct fake_device *dev = &fake.profile.devices[t.device];
  if (t.mig < 0) return fake_copy(name, length, dev->name);
  (void)snprintf(text, sizeof text, "%s MIG %s", dev->name, dev->migs[t.mig].profile);
  return fake_copy(name, length, text);
}

nvmlReturn_t fake_nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
  struct fake_target t;
  if (!fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  const struct fake_device *dev = &fake.profile.devices[t.device];
  return fake_copy(uuid, length, t.mig < 0 ? dev->uuid : dev->migs[t.mig].uuid);
}

nvmlReturn_t fake_nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
  struct fake_target t;
  if (index == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  *index = (unsigned)(t.mig < 0 ? t.device : t.mig);
  return NVML_SUCCESS;
}

/* For questions that only a whole card answers. */
#define CARD_OR_RETURN(handle, out)                         \
  struct fake_device *card = NULL;                          \
  if ((out) == NULL) return NVML_ERROR_INVALID_ARGUMENT;    \
  nvmlReturn_t not_a_card = fake_card(handle, &card, NULL); \
  if (not_a_card != NVML_SUCCESS) return not_a_card

nvmlReturn_t fake_nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor) {
  CARD_OR_RETURN(device, minor);
  *minor = card->minor;
  return NVML_SUCCESS;
}

void fake_pci_info(struct fake_pci at, unsigned int pci_id, nvmlPciInfo_t *out) {
  memset(out, 0, sizeof *out);
  out->domain = at.domain;
  out->bus = at.bus;
  out->device = at.device;
  out->pciDeviceId = pci_id;
  (void)snprintf(out->busId, sizeof out->busId, "%08X:%02X:%02X.0", at.domain, at.bus & 0xFFu, at.device & 0xFFu);
  (void)snprintf(out->busIdLegacy, sizeof out->busIdLegacy, "%04X:%02X:%02X.0", at.domain & 0xFFFFu, at.bus & 0xFFu,
                 at.device & 0xFFu);
}

nvmlReturn_t fake_nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
  CARD_OR_RETURN(device, pci);
  fake_pci_info(card->pci, card->pci_id, pci);
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
  struct fake_target t;
  if (major == NULL || minor == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  *major = fake.profile.devices[t.device].cc_major;
  *minor = fake.profile.devices[t.device].cc_minor;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int *cores) {
  CARD_OR_RETURN(device, cores);
  *cores = card->cores;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node) {
  CARD_OR_RETURN(device, node);
  if (card->memory_numa < 0) return NVML_ERROR_NOT_SUPPORTED;
  *node = (unsigned)card->memory_numa;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words, unsigned long *mask,
                                              nvmlAffinityScope_t scope) {
  CARD_OR_RETURN(device, mask);
  if (words == 0 || scope > NVML_AFFINITY_SCOPE_SOCKET) return NVML_ERROR_INVALID_ARGUMENT;
  if (card->numa < 0) return NVML_ERROR_NOT_SUPPORTED;
  memset(mask, 0, words * sizeof *mask);
  unsigned bits = 8u * (unsigned)sizeof *mask, node = (unsigned)card->numa;
  if (node / bits < words) mask[node / bits] = 1ul << (node % bits);
  return NVML_SUCCESS;
}

/* ---- MIG ----------------------------------------------------------------------------------------------------------- */

nvmlReturn_t fake_nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
  CARD_OR_RETURN(device, current);
  if (pending == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (card->mig_mode == FAKE_MIG_UNSUPPORTED) return NVML_ERROR_NOT_SUPPORTED;
  *current = *pending = card->mig_mode == FAKE_MIG_ENABLED ? NVML_DEVICE_MIG_ENABLE : NVML_DEVICE_MIG_DISABLE;
  return NVML_SUCCESS;
}

/* Seven slices whatever exists; the driver does not shrink the figure to what was made. */
nvmlReturn_t fake_nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count) {
  CARD_OR_RETURN(device, count);
  *count = card->mig_mode == FAKE_MIG_ENABLED ? FAKE_MIGS : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig) {
  int number = 0;
  CARD_OR_RETURN(device, mig);
  (void)fake_card(device, &card, &number);
  if (card->mig_mode == FAKE_MIG_UNSUPPORTED) return NVML_ERROR_NOT_SUPPORTED;
  if (index >= FAKE_MIGS) return NVML_ERROR_INVALID_ARGUMENT;
  if (!card->migs[index].present) return NVML_ERROR_NOT_FOUND;
  *mig = fake_handle(number, (int)index);
  return NVML_SUCCESS;
}

/* For questions that only a MIG device answers; null if it is none. */
static const struct fake_mig *mig_of(nvmlDevice_t device, struct fake_target *t) {
  if (!fake_resolve(device, t) || t->mig < 0) return NULL;
  return &fake.profile.devices[t->device].migs[t->mig];
}

nvmlReturn_t fake_nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t *parent) {
  struct fake_target t;
  if (parent == NULL || mig_of(device, &t) == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *parent = fake_handle(t.device, -1);
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is_mig) {
  struct fake_target t;
  if (is_mig == NULL || !fake_resolve(device, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  *is_mig = t.mig >= 0;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id) {
  struct fake_target t;
  const struct fake_mig *mig = mig_of(device, &t);
  if (id == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (mig == NULL) return NVML_ERROR_NOT_SUPPORTED;
  *id = mig->gi;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id) {
  struct fake_target t;
  const struct fake_mig *mig = mig_of(device, &t);
  if (id == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (mig == NULL) return NVML_ERROR_NOT_SUPPORTED;
  *id = mig->ci;
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
  struct fake_target t;
  const struct fake_mig *mig = mig_of(device, &t);
  if (attributes == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (mig == NULL) return NVML_ERROR_NOT_SUPPORTED;
  *attributes = mig->attributes;
  return NVML_SUCCESS;
}
