/* A small hash set in the shared region: a wrong answer costs accuracy, never safety of another container. */
#include "exports.h"

enum { PROBES = 8 };

uint64_t vgpu_hash(const void *bytes, size_t length, uint64_t seed) {
  uint64_t h = VGPU_FNV_OFFSET ^ seed;
  for (size_t i = 0; i < length; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * VGPU_FNV_PRIME;
  return h != 0 ? h : 1;
}

void vgpu_export_note(const struct vgpu_shared *shared, uint64_t hash) {
  for (uint64_t i = 0; i < PROBES; i++) {
    uint64_t *at = &shared->usage->exports[(hash + i) % VGPU_EXPORTS], empty = 0;
    if (__atomic_compare_exchange_n(at, &empty, hash, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE) || empty == hash) return;
  }
  __atomic_store_n(&shared->usage->exports[hash % VGPU_EXPORTS], hash, __ATOMIC_RELEASE);
}

bool vgpu_export_known(const struct vgpu_shared *shared, uint64_t hash) {
  for (uint64_t i = 0; i < PROBES; i++) {
    if (__atomic_load_n(&shared->usage->exports[(hash + i) % VGPU_EXPORTS], __ATOMIC_ACQUIRE) == hash) return true;
  }
  return false;
}
