/* Questions about pairs of devices and about links. */
#include "fake.h"

/* Two whole cards, neither lost. */
static nvmlReturn_t pair_of(nvmlDevice_t device, nvmlDevice_t other, int *a, int *b) {
  struct fake_device *card = NULL;
  nvmlReturn_t result = fake_card(device, &card, a);
  if (result == NVML_SUCCESS) result = fake_card(other, &card, b);
  if (result != NVML_SUCCESS) return result;
  if (*a == *b) return NVML_ERROR_INVALID_ARGUMENT;
  return fake_lost(*b) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

static nvmlGpuTopologyLevel_t level_of(int a, int b) {
  const struct fake_profile *p = &fake.profile;
  if (p->pcie_level[a][b] != 0xFF) return (nvmlGpuTopologyLevel_t)p->pcie_level[a][b];
  return p->devices[a].numa == p->devices[b].numa ? NVML_TOPOLOGY_NODE : NVML_TOPOLOGY_SYSTEM;
}

nvmlReturn_t fake_nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, nvmlGpuTopologyLevel_t *level) {
  int a = 0, b = 0;
  if (level == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = pair_of(device, other, &a, &b);
  if (result == NVML_SUCCESS) *level = level_of(a, b);
  return result;
}

static bool linked(int a, int b) {
  const struct fake_profile *p = &fake.profile;
  return p->nvlinks[a][b] > 0 || (p->devices[a].switch_links > 0 && p->devices[b].switch_links > 0);
}

nvmlReturn_t fake_nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, nvmlGpuP2PCapsIndex_t cap,
                                         nvmlGpuP2PStatus_t *status) {
  int a = 0, b = 0;
  if (status == NULL || (int)cap < 0 || cap > NVML_P2P_CAPS_INDEX_PCI) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = pair_of(device, other, &a, &b);
  if (result != NVML_SUCCESS) return result;
  bool near = level_of(a, b) <= NVML_TOPOLOGY_NODE;
  if (cap == NVML_P2P_CAPS_INDEX_NVLINK) {
    *status = linked(a, b) ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
  } else if (cap == NVML_P2P_CAPS_INDEX_PCI || !linked(a, b)) {
    *status = near ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED;
  } else {
    *status = NVML_P2P_STATUS_OK;
  }
  return NVML_SUCCESS;
}

/* The other end of a link. */
struct far_end {
  bool is_switch;
  int number;
};

/* Links to GPUs come first, by the peer's index, then those to the switches, one after the other in turn. */
static nvmlReturn_t link_of(nvmlDevice_t device, unsigned int link, struct far_end *out) {
  const struct fake_profile *p = &fake.profile;
  struct fake_device *card = NULL;
  int index = 0;
  nvmlReturn_t result = fake_card(device, &card, &index);
  if (result != NVML_SUCCESS) return result;
  if (link >= NVML_NVLINK_MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned n = link;
  for (int peer = 0; peer < p->device_count; peer++) {
    if (n < p->nvlinks[index][peer]) {
      *out = (struct far_end){false, peer};
      return NVML_SUCCESS;
    }
    n -= p->nvlinks[index][peer];
  }
  if (n < card->switch_links) {
    *out = (struct far_end){true, (int)(n % (unsigned)p->switch_count)};
    return NVML_SUCCESS;
  }
  bool has_links = n < link || card->switch_links > 0;
  return has_links ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t fake_nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *state) {
  struct far_end end;
  if (state == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = link_of(device, link, &end);
  if (result == NVML_SUCCESS) *state = NVML_FEATURE_ENABLED;
  return result;
}

nvmlReturn_t fake_nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link, nvmlNvLinkCapability_t cap,
                                                unsigned int *yes) {
  struct far_end end;
  if (yes == NULL || (int)cap < 0 || cap > NVML_NVLINK_CAP_VALID) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = link_of(device, link, &end);
  if (result == NVML_SUCCESS) *yes = cap != NVML_NVLINK_CAP_SLI_BRIDGE;
  return result;
}

nvmlReturn_t fake_nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci) {
  struct far_end end;
  if (pci == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = link_of(device, link, &end);
  if (result != NVML_SUCCESS) return result;
  if (end.is_switch) {
    fake_pci_info(fake.profile.switches[end.number], 0x1AF110DE, pci);
  } else {
    const struct fake_device *peer = &fake.profile.devices[end.number];
    fake_pci_info(peer->pci, peer->pci_id, pci);
  }
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, nvmlIntNvLinkDeviceType_t *type) {
  struct far_end end;
  if (type == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = link_of(device, link, &end);
  if (result == NVML_SUCCESS) *type = end.is_switch ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
  return result;
}
