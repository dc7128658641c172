/* Regions in files, and programs that see them. */
#include "container.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "regions.h"

static void *file(const char *directory, const char *name, size_t bytes) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) return NULL;
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  (void)close(fd);
  return at == MAP_FAILED ? NULL : at;
}

bool container_make(struct container *c, const char *name, uint32_t flags, uint32_t permille, uint32_t soft_permille) {
  const char *state = getenv("FAKE_GPUS_STATE");
  (void)snprintf(c->directory, sizeof c->directory, "%s-%s", state != NULL ? state : "/tmp/container", name);
  (void)mkdir(c->directory, 0755);
  c->limits = file(c->directory, VGPU_LIMITS_FILE, VGPU_LIMITS_BYTES);
  c->usage = file(c->directory, VGPU_USAGE_FILE, VGPU_USAGE_BYTES);
  c->load = file(c->directory, VGPU_LOAD_FILE, VGPU_LOAD_BYTES);
  if (c->limits == NULL || c->usage == NULL || c->load == NULL) return false;
  if (file(c->directory, VGPU_USAGE_LOCK_FILE, VGPU_USAGE_LOCK_BYTES) == NULL) return false;
  memset(c->usage, 0, sizeof *c->usage);
  memset(c->load, 0, sizeof *c->load);
  memset(c->limits, 0, sizeof *c->limits);
  good_header(&c->limits->header, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, 1);
  good_header(&c->usage->header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 1);
  good_header(&c->load->header, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, 1);
  struct vgpu_limits_device *d = &c->limits->devices[0];
  (void)snprintf(d->uuid, sizeof d->uuid, "GPU-02000200-0000-0000-0000-000000000000");
  d->mem_limit = d->mem_physical = (uint64_t)32 << 30;
  c->visible = "0";
  container_limit(c, flags, permille, soft_permille);
  return true;
}

void container_second_card(struct container *c, uint32_t flags, uint32_t permille) {
  struct vgpu_limits_device *d = &c->limits->devices[1];
  *d = c->limits->devices[0];
  (void)snprintf(d->uuid, sizeof d->uuid, "GPU-02000200-0000-0000-0000-000000000001");
  d->flags = flags | VGPU_LIMIT_ACTIVE | VGPU_LIMIT_MEMORY;
  d->core_hard_permille = d->core_soft_permille = permille;
  c->limits->header.device_count = c->usage->header.device_count = c->load->header.device_count = 2;
  c->visible = "0,1";
}

void container_limit(struct container *c, uint32_t flags, uint32_t permille, uint32_t soft_permille) {
  struct vgpu_limits_device *d = &c->limits->devices[0];
  __atomic_fetch_add(&d->seq, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&d->flags, flags | VGPU_LIMIT_ACTIVE | VGPU_LIMIT_MEMORY, __ATOMIC_RELAXED);
  __atomic_store_n(&d->core_hard_permille, permille, __ATOMIC_RELAXED);
  __atomic_store_n(&d->core_soft_permille, soft_permille, __ATOMIC_RELAXED);
  __atomic_fetch_add(&d->seq, 1, __ATOMIC_RELEASE);
}

void container_neighbours(struct container *c, uint32_t others_active) {
  struct vgpu_load_device *d = &c->load->devices[0];
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  __atomic_fetch_add(&d->seq, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&d->others_active, others_active, __ATOMIC_RELAXED);
  __atomic_store_n(&d->sample_ns, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, __ATOMIC_RELAXED);
  __atomic_fetch_add(&d->seq, 1, __ATOMIC_RELEASE);
}

pid_t container_run(const struct container *c, const char *library, const char *tenant, long kernel_ns, int batch, int sync) {
  (void)fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is cut short leaves nothing running */
  char ns[32], n[16], s[16];
  (void)snprintf(ns, sizeof ns, "%ld", kernel_ns);
  (void)snprintf(n, sizeof n, "%d", batch);
  (void)snprintf(s, sizeof s, "%d", sync);
  (void)setenv("CUDA_SHIM_CONFIG_DIR", c->directory, 1);
  (void)setenv("LD_PRELOAD", library, 1);
  (void)setenv("CUDA_VISIBLE_DEVICES", c->visible, 1);
  (void)execl(tenant, tenant, ns, n, s, (char *)NULL);
  _exit(127);
}

void container_kill(pid_t pid) {
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, NULL, 0);
}
