/* Matching by UUID. */
#include "devices.h"

#include "log.h"
#include "text.h"

enum { MAX_DEVICES = 64 };

struct devices {
  int count;
  uint8_t entry[MAX_DEVICES]; /* by ordinal, which is what a CUdevice is */
};
static struct devices known;
static atomic_int learned; /* 0 no, 1 yes: published after `known` */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_uuid(const char *field, const char *uuid) {
  for (int i = 0; i < VGPU_UUID_BYTES; i++) {
    if (lower(field[i]) != lower(uuid[i])) return false;
    if (field[i] == '\0') return i > 4;
  }
  return false; /* a field without an end is broken */
}

static bool active(const struct vgpu_limits_device *d) {
  return (__atomic_load_n(&d->flags, __ATOMIC_RELAXED) & VGPU_LIMIT_ACTIVE) != 0;
}

uint8_t vgpu_entry_of_uuid(const struct vgpu_shared *shared, const char *uuid) {
  for (uint32_t i = 0; i < shared->devices; i++) {
    if (active(&shared->limits->devices[i]) && same_uuid(shared->limits->devices[i].uuid, uuid)) return (uint8_t)i;
  }
  return VGPU_NO_ENTRY;
}

static void write_uuid(char text[41], const char *prefix, const CUuuid *uuid) {
  static const char digits[] = "0123456789abcdef";
  int n = 0;
  for (; prefix[n] != '\0'; n++) text[n] = prefix[n];
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[n++] = '-';
    text[n++] = digits[(unsigned char)uuid->bytes[i] >> 4];
    text[n++] = digits[(unsigned char)uuid->bytes[i] & 15];
  }
  text[n] = '\0';
}

/* Made-up limits go by ordinal; that they are found by UUID too, as NVML's side does, begins here. */
static uint8_t own_entry(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared, int ordinal, CUdevice device) {
  CUuuid uuid;
  char text[41];
  if (ordinal >= VGPU_MAX_DEVICES || !active(&shared->own->devices[ordinal])) return VGPU_NO_ENTRY;
  if (cuda->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) {
    char *field = shared->own->devices[ordinal].uuid;
    write_uuid(text, "GPU-", &uuid);
    for (int i = 0; i < 41; i++) __atomic_store_n(&field[i], text[i], __ATOMIC_RELAXED);
  }
  return (uint8_t)ordinal;
}

static uint8_t entry_of(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared, CUdevice device) {
  CUuuid uuid;
  char text[41];
  /* the second version tells the slice of a MIG device, the first its card */
  if (cuda->cuDeviceGetUuid_v2(&uuid, device) == CUDA_SUCCESS) {
    write_uuid(text, "MIG-", &uuid);
    uint8_t entry = vgpu_entry_of_uuid(shared, text);
    if (entry != VGPU_NO_ENTRY) return entry;
    write_uuid(text, "GPU-", &uuid);
    entry = vgpu_entry_of_uuid(shared, text);
    if (entry != VGPU_NO_ENTRY) return entry;
  }
  if (cuda->cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS) return VGPU_NO_ENTRY;
  write_uuid(text, "GPU-", &uuid);
  return vgpu_entry_of_uuid(shared, text);
}

bool vgpu_devices_learn(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared) {
  if (atomic_load_explicit(&learned, memory_order_acquire) == 1) return true;
  struct devices d = {.count = 0};
  int count = 0;
  bool matched = false;
  if (cuda->cuDeviceGetCount(&count) != CUDA_SUCCESS || count <= 0) return true; /* nothing to limit */
  d.count = count < MAX_DEVICES ? count : MAX_DEVICES;
  for (int i = 0; i < d.count; i++) {
    CUdevice device;
    d.entry[i] = cuda->cuDeviceGet(&device, i) != CUDA_SUCCESS ? VGPU_NO_ENTRY
                 : shared->own != NULL                         ? own_entry(cuda, shared, i, device)
                                                               : entry_of(cuda, shared, device);
    matched |= shared->own != NULL || d.entry[i] != VGPU_NO_ENTRY;
    if (shared->own == NULL && d.entry[i] == VGPU_NO_ENTRY)
      vgpu_log(VGPU_LOG_WARNING, "a device is not in limits, ordinal", NULL, i);
  }
  if (!matched) return false;
  /* threads that are here at once write the same */
  for (int i = 0; i < d.count; i++) __atomic_store_n(&known.entry[i], d.entry[i], __ATOMIC_RELAXED);
  __atomic_store_n(&known.count, d.count, __ATOMIC_RELAXED);
  atomic_store_explicit(&learned, 1, memory_order_release);
  return true;
}

uint8_t vgpu_entry_of_device(CUdevice device) {
  if (atomic_load_explicit(&learned, memory_order_acquire) != 1 || device < 0 || device >= known.count) return VGPU_NO_ENTRY;
  return known.entry[device];
}

CUdevice vgpu_device_of_entry(uint8_t entry) {
  if (atomic_load_explicit(&learned, memory_order_acquire) != 1) return -1;
  for (int i = 0; i < known.count; i++) {
    if (known.entry[i] == entry) return i;
  }
  return -1;
}

CUdevice vgpu_only_device(void) {
  return atomic_load_explicit(&learned, memory_order_acquire) == 1 && known.count == 1 ? 0 : -1;
}

bool vgpu_place_device(const struct vgpu_cuda *cuda, CUdevice device, struct vgpu_place *out) {
  out->cuda = cuda;
  out->shared = vgpu_shared();
  out->device = device;
  if (out->shared->mode != VGPU_ACTIVE) return false;
  if (atomic_load_explicit(&learned, memory_order_acquire) != 1) (void)vgpu_devices_learn(cuda, out->shared);
  out->me = vgpu_process();
  out->entry = vgpu_entry_of_device(device);
  return out->me != NULL && out->entry != VGPU_NO_ENTRY && vgpu_limit_read(out->shared, out->entry, &out->limit);
}

bool vgpu_place_current(const struct vgpu_cuda *cuda, struct vgpu_place *out) {
  CUdevice device = vgpu_only_device();
  if (device < 0 && atomic_load_explicit(&learned, memory_order_acquire) != 1 && vgpu_shared()->mode == VGPU_ACTIVE) {
    (void)vgpu_devices_learn(cuda, vgpu_shared());
    device = vgpu_only_device();
  }
  if (device < 0 && cuda->cuCtxGetDevice(&device) != CUDA_SUCCESS) return false;
  return vgpu_place_device(cuda, device, out);
}

void vgpu_devices_forget(void) { atomic_store(&learned, 0); }
