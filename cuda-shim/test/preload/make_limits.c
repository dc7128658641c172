/*
 * A container's directory as the agent makes it, for tests and for trying things out.
 *   make_limits DIRECTORY UUID MEMORY_MIB [FLAGS [PHYSICAL_MIB [CONTEXT_MIB]]]   FLAGS as in abi.h, 3 if not given
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/regions.h"

static void write_file(const char *directory, const char *file, const void *bytes, size_t size) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", directory, file);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fchmod(fd, 0666) != 0 || close(fd) != 0) {
    perror(path);
    exit(1);
  }
}

int main(int argc, char **argv) {
  static struct vgpu_limits limits;
  static struct vgpu_usage usage;
  static struct vgpu_load load;
  static char lock[VGPU_USAGE_LOCK_BYTES];
  if (argc < 4 || argc > 7) return 2;
  good_header(&limits.header, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, 1);
  good_header(&usage.header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 1);
  good_header(&load.header, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, 1);
  struct vgpu_limits_device *d = &limits.devices[0];
  d->seq = 2;
  d->flags = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : VGPU_LIMIT_ACTIVE | VGPU_LIMIT_MEMORY;
  (void)snprintf(d->uuid, sizeof d->uuid, "%s", argv[2]);
  d->mem_limit = d->mem_physical = strtoull(argv[3], NULL, 10) << 20;
  if (argc > 5) d->mem_physical = strtoull(argv[5], NULL, 10) << 20;
  if (argc > 6) d->context_mib = (uint32_t)strtoul(argv[6], NULL, 10);
  d->core_hard_permille = d->core_soft_permille = VGPU_PERMILLE_FULL;
  write_file(argv[1], VGPU_USAGE_LOCK_FILE, lock, sizeof lock);
  write_file(argv[1], VGPU_USAGE_FILE, &usage, sizeof usage);
  write_file(argv[1], VGPU_LOAD_FILE, &load, sizeof load);
  write_file(argv[1], VGPU_LIMITS_FILE, &limits, sizeof limits);
  return 0;
}
