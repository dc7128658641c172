/* A container's directory as the agent makes it, in a temporary place. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/regions.h"
#include "devices.h"
#include "entry.h"
#include "ledger.h"
#include "model.h"
#include "pace.h"
#include "pool.h"

struct model_regions regions;

static void *map_new(const char *file, size_t bytes) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", regions.directory, file);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) abort();
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  (void)close(fd);
  if (at == MAP_FAILED) abort();
  return at;
}

static pid_t maker;

static void remove_directory(void) {
  static const char *const files[] = {"limits", "usage", "load", "usage.lock"};
  if (getpid() != maker) return; /* a child's exit */
  for (int i = 0; i < 4; i++) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", regions.directory, files[i]);
    (void)unlink(path);
  }
  (void)rmdir(regions.directory);
}

void library_forget(void) {
  static const uint32_t no_limit;
  atomic_store(&vgpu_pace_flags, &no_limit); /* it points into limits, which go */
  vgpu_process_forget();
  vgpu_devices_forget();
  vgpu_pools_forget();
  vgpu_shared_forget();
  for (int i = 0; i < VGPU_MAX_DEVICES; i++) atomic_store(&vgpu_contexts[i], 0);
  atomic_store(&vgpu_passive, NULL);
  atomic_store(&vgpu_launching, NULL);
}

void regions_begin(uint64_t memory_mib, uint32_t flags) {
  library_forget();
  if (regions.directory[0] == '\0') {
    (void)strcpy(regions.directory, "/tmp/shim-test-XXXXXX");
    if (mkdtemp(regions.directory) == NULL) abort();
    maker = getpid();
    if (atexit(remove_directory) != 0) abort();
    regions.limits = map_new("limits", sizeof *regions.limits);
    regions.usage = map_new("usage", sizeof *regions.usage);
    regions.load = map_new("load", sizeof *regions.load);
    (void)munmap(map_new("usage.lock", VGPU_USAGE_LOCK_BYTES), VGPU_USAGE_LOCK_BYTES);
    if (setenv("CUDA_SHIM_CONFIG_DIR", regions.directory, 1) != 0) abort();
  }
  memset(regions.limits, 0, sizeof *regions.limits);
  memset(regions.usage, 0, sizeof *regions.usage);
  memset(regions.load, 0, sizeof *regions.load);
  good_header(&regions.limits->header, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, 1);
  good_header(&regions.usage->header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 1);
  good_header(&regions.load->header, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, 1);
  struct vgpu_limits_device *d = &regions.limits->devices[0];
  d->seq = 2;
  d->flags = VGPU_LIMIT_ACTIVE | flags;
  (void)strcpy(d->uuid, "GPU-11111111-1111-1111-1111-1111111111a0");
  d->mem_limit = d->mem_physical = memory_mib * MODEL_MIB;
  d->core_hard_permille = d->core_soft_permille = 1000;
  d->context_mib = 100;
}
