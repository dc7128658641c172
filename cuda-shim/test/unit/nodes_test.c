/*
 * The four nodes of deploy/e2e/profiles as a client sees them through the library. What they should be is stated here
 * from the hardware's data, not read from the profiles.
 */
#include <stdlib.h>

#include "check.h"
#include "nvml_load.h"

static const struct node {
  const char *file, *driver;
  int cuda;
  unsigned devices;
  const char *name, *first_uuid, *first_pci, *first_legacy_pci;
  unsigned long long memory_mib;
  int cc_major, cc_minor;
  unsigned multiprocessors, cores_each, links, switches;
  bool mig;
  nvmlGpuTopologyLevel_t level01; /* between the first two */
} NODES[] = {
    {"1xT4", "550.163.01", 12040, 1, "Tesla T4", "GPU-00000074-0000-0000-0000-000000000000", "00000000:3B:00.0", "0000:3B:00.0",
     15360, 7, 5, 40, 64, 0, 0, false, NVML_TOPOLOGY_SYSTEM},
    {"8xA100", "550.163.01", 12040, 8, "NVIDIA A100-SXM4-40GB", "GPU-12345678-1234-1234-1234-123456780000", "00000000:07:00.0",
     "0000:07:00.0", 40960, 8, 0, 108, 64, 12, 6, true, NVML_TOPOLOGY_MULTIPLE},
    {"8xH100", "550.163.01", 12040, 8, "NVIDIA H100 80GB HBM3", "GPU-01000100-0000-0000-0000-000000000000", "00000000:1A:00.0",
     "0000:1A:00.0", 81559, 9, 0, 132, 128, 18, 4, true, NVML_TOPOLOGY_NODE},
    {"8xH200", "580.159.04", 13000, 8, "NVIDIA H200", "GPU-02000200-0000-0000-0000-000000000000", "00000000:19:00.0",
     "0000:19:00.0", 143771, 9, 0, 132, 128, 18, 4, true, NVML_TOPOLOGY_NODE},
};

static struct nvml n;

#define OK(call) CHECK_EQ((call), NVML_SUCCESS, #call)

static void system_is(const struct node *node) {
  char text[80] = "";
  int cuda = 0;
  OK(n.nvmlSystemGetDriverVersion(text, sizeof text));
  CHECK(strcmp(text, node->driver) == 0, "%s", text);
  OK(n.nvmlSystemGetNVMLVersion(text, sizeof text));
  CHECK(strstr(text, node->driver) != NULL, "%s", text);
  CHECK_EQ(n.nvmlSystemGetDriverVersion(text, 4), NVML_ERROR_INSUFFICIENT_SIZE, "short buffer");
  CHECK_EQ(n.nvmlSystemGetDriverVersion(NULL, 80), NVML_ERROR_INVALID_ARGUMENT, "no buffer");
  OK(n.nvmlSystemGetCudaDriverVersion_v2(&cuda));
  CHECK_EQ(cuda, node->cuda, "cuda");
}

static void card_is(const struct node *node, unsigned i, nvmlDevice_t d) {
  char text[96] = "";
  unsigned u = 99, v = 99;
  int major = 0, minor = 0;
  nvmlDevice_t again = NULL;
  OK(n.nvmlDeviceGetName(d, text, sizeof text));
  CHECK(strcmp(text, node->name) == 0, "%s", text);
  OK(n.nvmlDeviceGetUUID(d, text, sizeof text));
  CHECK(strncmp(text, node->first_uuid, strlen(node->first_uuid) - 1) == 0 && text[39] == (char)('0' + i), "%s", text);
  OK(n.nvmlDeviceGetHandleByUUID(text, &again));
  CHECK(again == d, "by UUID");
  OK(n.nvmlDeviceGetIndex(d, &u));
  CHECK_EQ(u, i, "index");
  OK(n.nvmlDeviceGetMinorNumber(d, &u));
  CHECK_EQ(u, i, "minor");
  OK(n.nvmlDeviceGetCudaComputeCapability(d, &major, &minor));
  CHECK_EQ(major * 10 + minor, node->cc_major * 10 + node->cc_minor, "compute capability");
  OK(n.nvmlDeviceGetNumGpuCores(d, &u));
  CHECK_EQ(u, node->multiprocessors * node->cores_each, "cores");
  CHECK_EQ(n.nvmlDeviceGetNumaNodeId(d, &u), NVML_ERROR_NOT_SUPPORTED, "a card in a slot is no NUMA node");
  unsigned long mask[2] = {0, 0};
  OK(n.nvmlDeviceGetMemoryAffinity(d, 2, mask, NVML_AFFINITY_SCOPE_NODE));
  CHECK_EQ(mask[0], i < 4 ? 1 : 2, "node of the slot");
  CHECK_EQ(n.nvmlDeviceGetMigMode(d, &u, &v), node->mig ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED, "MIG mode");
  if (node->mig) CHECK_EQ(u + v, 0, "MIG is off");
  OK(n.nvmlDeviceGetMaxMigDeviceCount(d, &u));
  CHECK_EQ(u, 0, "MIG devices");
  OK(n.nvmlDeviceIsMigDeviceHandle(d, &u));
  CHECK_EQ(u, 0, "no MIG device");
  CHECK_EQ(n.nvmlDeviceGetGpuInstanceId(d, &u), NVML_ERROR_NOT_SUPPORTED, "no GPU instance");
}

static void memory_is(const struct node *node, nvmlDevice_t d) {
  nvmlMemory_t m1 = {0, 0, 0};
  nvmlMemory_v2_t m2 = {.version = NVML_MEMORY_V2};
  OK(n.nvmlDeviceGetMemoryInfo(d, &m1));
  OK(n.nvmlDeviceGetMemoryInfo_v2(d, &m2));
  CHECK_EQ(m1.total, node->memory_mib << 20, "total");
  CHECK_EQ(m1.free + m1.used, m1.total, "v1: used holds what is reserved");
  CHECK_EQ(m2.free + m2.used + m2.reserved, m2.total, "v2: it does not");
  CHECK_EQ(m2.total, m1.total, "both tell one total");
  CHECK_EQ(m2.used, 0, "idle");
  m2.version = 1;
  CHECK_EQ(n.nvmlDeviceGetMemoryInfo_v2(d, &m2), NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "version");
}

static void pci_is(const struct node *node, unsigned i, nvmlDevice_t d) {
  nvmlPciInfo_t pci;
  OK(n.nvmlDeviceGetPciInfo_v3(d, &pci));
  CHECK((pci.pciDeviceId & 0xFFFF) == 0x10DE, "vendor %x", pci.pciDeviceId);
  if (i != 0) return;
  CHECK(strcmp(pci.busId, node->first_pci) == 0, "%s", pci.busId);
  CHECK(strcmp(pci.busIdLegacy, node->first_legacy_pci) == 0, "%s", pci.busIdLegacy);
}

static void links_are(const struct node *node, nvmlDevice_t d) {
  unsigned up = 0, seen_switches = 0;
  char seen[NVML_NVLINK_MAX_LINKS][32];
  for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; link++) {
    nvmlEnableState_t state = NVML_FEATURE_DISABLED;
    nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
    nvmlPciInfo_t pci;
    unsigned yes = 0;
    nvmlReturn_t r = n.nvmlDeviceGetNvLinkState(d, link, &state);
    if (r != NVML_SUCCESS) {
      CHECK_EQ(r, node->links > 0 ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED, "link that is not there");
      continue;
    }
    up += state == NVML_FEATURE_ENABLED;
    OK(n.nvmlDeviceGetNvLinkRemoteDeviceType(d, link, &type));
    CHECK_EQ(type, NVML_NVLINK_DEVICE_TYPE_SWITCH, "far end");
    OK(n.nvmlDeviceGetNvLinkCapability(d, link, NVML_NVLINK_CAP_P2P_SUPPORTED, &yes));
    CHECK_EQ(yes, 1, "P2P");
    OK(n.nvmlDeviceGetNvLinkRemotePciInfo_v2(d, link, &pci));
    bool new = true;
    for (unsigned s = 0; s < seen_switches; s++) new = new &&strcmp(seen[s], pci.busId) != 0;
    if (new) memcpy(seen[seen_switches++], pci.busId, sizeof pci.busId);
  }
  CHECK_EQ(up, node->links, "links");
  CHECK_EQ(seen_switches, node->switches, "switches");
  nvmlEnableState_t state;
  CHECK_EQ(n.nvmlDeviceGetNvLinkState(d, NVML_NVLINK_MAX_LINKS, &state), NVML_ERROR_INVALID_ARGUMENT, "link 18");
}

static void pairs_are(const struct node *node, nvmlDevice_t *d) {
  for (unsigned a = 0; a < node->devices; a++) {
    for (unsigned b = 0; b < node->devices; b++) {
      nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_INTERNAL, back = NVML_TOPOLOGY_INTERNAL;
      nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
      if (a == b) {
        CHECK_EQ(n.nvmlDeviceGetTopologyCommonAncestor(d[a], d[b], &level), NVML_ERROR_INVALID_ARGUMENT, "with itself");
        continue;
      }
      OK(n.nvmlDeviceGetTopologyCommonAncestor(d[a], d[b], &level));
      OK(n.nvmlDeviceGetTopologyCommonAncestor(d[b], d[a], &back));
      CHECK_EQ(level, back, "the same from both ends");
      bool socket = a / 4 == b / 4, pair = a / 2 == b / 2;
      CHECK_EQ(level, !socket ? NVML_TOPOLOGY_SYSTEM : pair ? node->level01 : NVML_TOPOLOGY_NODE, "level");
      OK(n.nvmlDeviceGetP2PStatus(d[a], d[b], NVML_P2P_CAPS_INDEX_NVLINK, &status));
      CHECK_EQ(status, NVML_P2P_STATUS_OK, "NVLink");
    }
  }
}

static void node_is(const struct node *node) {
  unsigned count = 0;
  nvmlDevice_t d[32], beyond = NULL;
  CHECK_EQ(n.nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED, "before");
  OK(n.nvmlInit_v2());
  system_is(node);
  OK(n.nvmlDeviceGetCount_v2(&count));
  CHECK_EQ(count, node->devices, "devices");
  CHECK_EQ(n.nvmlDeviceGetHandleByIndex_v2(count, &beyond), NVML_ERROR_INVALID_ARGUMENT, "beyond the last");
  CHECK_EQ(n.nvmlDeviceGetHandleByUUID("GPU-none", &beyond), NVML_ERROR_NOT_FOUND, "unknown UUID");
  CHECK_EQ(n.nvmlDeviceGetHandleByUUID(NULL, &beyond), NVML_ERROR_INVALID_ARGUMENT, "no UUID");
  for (unsigned i = 0; i < count && i < 32; i++) {
    OK(n.nvmlDeviceGetHandleByIndex_v2(i, &d[i]));
    card_is(node, i, d[i]);
    memory_is(node, d[i]);
    pci_is(node, i, d[i]);
    links_are(node, d[i]);
  }
  if (count == node->devices) pairs_are(node, d);
  CHECK_EQ(n.nvmlDeviceGetIndex((nvmlDevice_t)&count, &count), NVML_ERROR_INVALID_ARGUMENT, "a handle of nobody");
  CHECK_EQ(n.nvmlDeviceGetIndex(NULL, &count), NVML_ERROR_INVALID_ARGUMENT, "no handle");
  OK(n.nvmlShutdown());
  CHECK_EQ(n.nvmlShutdown(), NVML_ERROR_UNINITIALIZED, "once too often");
  CHECK(strcmp(n.nvmlErrorString(NVML_ERROR_GPU_IS_LOST), "GPU is lost") == 0, "error text");
}

int main(int argc, char **argv) {
  char path[4096];
  if (argc != 3 || nvml_load(&n, argv[1])) return 2;
  for (size_t i = 0; i < sizeof NODES / sizeof NODES[0]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s.gpus", argv[2], NODES[i].file);
    (void)setenv("FAKE_GPUS", path, 1);
    node_is(&NODES[i]);
  }
  return check_result();
}
