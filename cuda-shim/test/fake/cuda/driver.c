/* Start of the fake driver: the profile, the shared cards, which of them are visible, and what a fork leaves. */
#include "driver.h"

#include <stdio.h>

#include "profile_file.h"

struct driver driver;
pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

enum { NEW, READY, CHILD };

CUresult driver_ready(void) {
  return atomic_load_explicit(&driver.state, memory_order_relaxed) == READY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* A number from the environment, or what is meant without it. */
static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  if (text == NULL || *text == '\0') return otherwise;
  char *end = NULL;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end == '\0') return value;
  (void)fprintf(stderr, "%s: \"%s\" is not a number; %llu is used\n", name, text, (unsigned long long)otherwise);
  return otherwise;
}

/* ---- which cards ---------------------------------------------------------------------------------------------------- */

/* A card by a number into `from` or by the beginning of its uuid; -1 if there is none. */
static int find_card(const char *word, size_t length, const uint32_t *from, uint32_t count) {
  char *end = NULL;
  if (length > 0 && strspn(word, "0123456789") >= length) {
    unsigned long n = strtoul(word, &end, 10);
    return n < count ? (int)from[n] : -1;
  }
  for (uint32_t i = 0; i < count && length > 4; i++) {
    if (strncmp(driver.profile.devices[from[i]].uuid, word, length) == 0) return (int)from[i];
  }
  return -1;
}

/* As the real driver: the list ends at the first word that names no card. */
static void restrict_to(const char *list) {
  uint32_t from[GPU_DEVICES], count = driver.device_count;
  memcpy(from, driver.visible, sizeof from);
  driver.device_count = 0;
  while (driver.device_count < GPU_DEVICES) {
    size_t n = strcspn(list, ",");
    int card = find_card(list, n, from, count);
    if (card < 0) return;
    driver.visible[driver.device_count++] = (uint32_t)card;
    if (list[n] == '\0') return;
    list += n + 1;
  }
}

static void choose_cards(void) {
  driver.device_count = (uint32_t)driver.profile.device_count;
  if (driver.device_count > GPU_DEVICES) driver.device_count = GPU_DEVICES;
  for (uint32_t d = 0; d < driver.device_count; d++) driver.visible[d] = d;
  /* Stands for the container runtime, which would let only these device nodes into the container. */
  const char *container = getenv("NVIDIA_VISIBLE_DEVICES");
  if (container != NULL && (strncmp(container, "GPU-", 4) == 0 || (*container >= '0' && *container <= '9')))
    restrict_to(container);
  const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
  if (chosen != NULL) restrict_to(chosen);
}

/* ---- start ---------------------------------------------------------------------------------------------------------- */

static bool join(const char *profile_path) {
  char path[4096];
  const char *why = "the path is too long";
  struct gpu_machine m = {
      .device_count = driver.profile.device_count < GPU_DEVICES ? (uint32_t)driver.profile.device_count : GPU_DEVICES,
      .slice_ns = setting("FAKE_GPUS_SLICE_US", 2000) * 1000,
      .switch_ns = setting("FAKE_GPUS_SWITCH_US", 0) * 1000,
      .context_bytes = setting("FAKE_GPUS_CONTEXT_MIB", 520) * DRIVER_MIB,
      .granule = setting("FAKE_GPUS_GRANULE", 512),
  };
  for (uint32_t d = 0; d < m.device_count; d++) {
    const struct fake_device *dev = &driver.profile.devices[d];
    m.devices[d].uuid = dev->uuid;
    m.devices[d].total = dev->memory - dev->reserved;
  }
  if (m.slice_ns == 0) m.slice_ns = 1;
  if (m.granule == 0) m.granule = 1;
  if (gpu_state_path(profile_path, path, sizeof path) && !gpu_join(&driver.gpu, path, &m, &why)) return true;
  (void)fprintf(stderr, "FAKE_GPUS_STATE: %s %s\n", path, why);
  return false;
}

/* Contexts do not outlive a fork: the child is told so for ever, and the slot stays the parent's. */
static void in_child(void) {
  if (driver.state == READY) driver.state = CHILD;
}

static CUresult start(void) {
  char path[4096];
  if (driver.state == READY) return CUDA_SUCCESS;
  if (driver.state == CHILD) return CUDA_ERROR_NOT_INITIALIZED;
  if (!fake_profile_path(&driver, path, sizeof path) || fake_profile_load(&driver.profile, path)) return CUDA_ERROR_NO_DEVICE;
  choose_cards();
  mps_start();
  if (driver.device_count == 0) return CUDA_ERROR_NO_DEVICE;
  if (!join(path)) return CUDA_ERROR_SYSTEM_NOT_READY;
  driver.default_kernel_ns = setting("FAKE_CUDA_KERNEL_NS", 10000);
  if (pthread_atfork(NULL, NULL, in_child) != 0) return CUDA_ERROR_OPERATING_SYSTEM;
  atomic_store(&driver.state, READY);
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int flags) {
  ENTER_OPEN;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (driver_ready() == CUDA_SUCCESS) return CUDA_SUCCESS;
  (void)pthread_mutex_lock(&start_lock);
  CUresult result = start();
  (void)pthread_mutex_unlock(&start_lock);
  return result;
}

CUresult cuDriverGetVersion(int *version);
CUresult cuDriverGetVersion(int *version) {
  ENTER_OPEN;
  static struct fake_profile profile; /* legal before cuInit, so it has to look itself */
  static _Atomic int known;
  char path[4096];
  if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&start_lock);
  if (known == 0 && fake_profile_path(&driver, path, sizeof path) && !fake_profile_load(&profile, path)) known = profile.cuda;
  (void)pthread_mutex_unlock(&start_lock);
  *version = known == 0 ? 13000 : known;
  return CUDA_SUCCESS;
}

/* ---- memory of a card ------------------------------------------------------------------------------------------------ */

uint64_t device_round(uint64_t bytes) {
  uint64_t granule = driver.gpu.state->granule;
  return bytes > UINT64_MAX - granule ? bytes : (bytes + granule - 1) / granule * granule;
}

bool device_take(CUdevice d, uint64_t bytes) { return gpu_take(&driver.gpu, card_of(d), bytes); }

void device_give(CUdevice d, uint64_t bytes) {
  if (bytes > 0) gpu_give(&driver.gpu, card_of(d), bytes);
}
