/* Joining the machine, and memory. Dead processes are cleaned up here, by whoever misses what they hold. */
#define _GNU_SOURCE
#include "gpu_own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_lock.h"

/* ---- the file ------------------------------------------------------------------------------------------------------ */

static void make(struct gpu_state *s, const struct gpu_machine *m) {
  s->version = GPU_VERSION;
  s->bytes = sizeof *s;
  s->device_count = m->device_count;
  s->slice_ns = m->slice_ns;
  s->switch_ns = m->switch_ns;
  s->context_bytes = m->context_bytes;
  s->granule = m->granule;
  for (uint32_t d = 0; d < m->device_count; d++) {
    struct gpu_device *device = &s->devices[d];
    strncpy(device->uuid, m->devices[d].uuid, sizeof device->uuid - 1);
    device->total = m->devices[d].total;
    device->current = device->last_ran = GPU_QUEUES;
    device->now_ns = gpu_clock_ns();
  }
  atomic_store(&s->magic, GPU_MAGIC);
}

static bool same_machine(const struct gpu_state *s, const struct gpu_machine *m) {
  if (s->version != GPU_VERSION || s->bytes != sizeof *s || s->device_count != m->device_count) return false;
  for (uint32_t d = 0; d < m->device_count; d++) {
    if (strcmp(s->devices[d].uuid, m->devices[d].uuid) != 0) return false;
  }
  return true;
}

static const char *map(struct gpu *g, const char *path, const struct gpu_machine *m) {
  struct stat st;
  /* Without O_CREAT first: with it the kernel refuses another user's file in a directory such as /tmp. */
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return strerror(errno);
  (void)fchmod(fd, 0666); /* containers run as anybody; the owner's umask must not keep them out */
  /* flock, since a record lock would be mixed up with the slots. The kernel drops it with its holder. */
  if (flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0) return strerror(errno);
  if (st.st_size == 0 && ftruncate(fd, (off_t)sizeof(struct gpu_state)) != 0) return strerror(errno);
  if (st.st_size != 0 && st.st_size != (off_t)sizeof(struct gpu_state)) return "has not the size of a state file";
  void *at = mmap(NULL, sizeof(struct gpu_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return strerror(errno);
  *g = (struct gpu){.state = at, .fd = fd};
  if (atomic_load(&g->state->magic) == 0) make(g->state, m);
  (void)flock(fd, LOCK_UN);
  return same_machine(g->state, m) ? NULL : "is of other cards than the profile";
}

/* ---- the slot ------------------------------------------------------------------------------------------------------ */

static bool lock_byte(const struct gpu *g, uint32_t slot) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
  return fcntl(g->fd, F_SETLK, &lock) == 0;
}

static uint64_t pid_namespace(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* A second copy of this library in one process: record locks cannot tell the two apart. */
static bool is_ours_already(const struct gpu_process *p) {
  return p->generation != 0 && p->pid == (int32_t)getpid() && p->pid_namespace == pid_namespace();
}

/* The sum, after somebody died while changing it. */
static void lock_memory(const struct gpu *g, struct gpu_device *device, uint32_t d) {
  if (!gpu_lock(g, &device->memory_lock)) return;
  uint64_t sum = 0;
  for (uint32_t s = 0; s < g->state->process_high; s++) sum += g->state->processes[s].on[d].bytes;
  device->used = sum;
}

static void release_memory(const struct gpu *g, uint32_t slot, uint32_t d) {
  (void)g;
  struct gpu_share *share = &g->state->processes[slot].on[d];
  g->state->devices[d].used -= share->bytes;
  share->bytes = 0;
}

static void clear_slot(struct gpu *g, uint32_t slot) {
  struct gpu_process *p = &g->state->processes[slot];
  for (uint32_t d = 0; d < g->state->device_count; d++) {
    gpu_drop_slot(g, d, slot); /* a dead predecessor's work would run on this process's account */
    lock_memory(g, &g->state->devices[d], d);
    release_memory(g, slot, d);
    gpu_unlock(&g->state->devices[d].memory_lock);
    p->on[d].peak = p->on[d].busy_ns = p->on[d].kernels = 0;
    p->on[d].contexts = 0;
  }
}

static void own_slot(struct gpu *g, uint32_t slot) {
  struct gpu_process *p = &g->state->processes[slot];
  if (slot >= g->state->process_high) g->state->process_high = slot + 1;
  p->generation = (p->generation + 1) & 0x7FFFu;
  if (p->generation == 0) p->generation = 1;
  g->slot = slot;
  g->tag = (p->generation << 16) | (slot + 1);
  p->pid = (int32_t)getpid();
  p->pid_namespace = pid_namespace();
  p->started_ns = gpu_clock_ns();
  memset(p->name, 0, sizeof p->name);
  int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t n = read(fd, p->name, sizeof p->name - 1);
  if (n > 0 && p->name[n - 1] == '\n') p->name[n - 1] = '\0';
  (void)close(fd);
}

/* First a slot that nobody had, so that the ledgers of the dead stay readable; then the one dead for longest. */
static bool find_slot(const struct gpu *g, uint32_t *slot) {
  struct gpu_state *s = g->state;
  uint64_t oldest = UINT64_MAX;
  for (uint32_t i = 0; i < GPU_PROCESSES; i++) {
    if (s->processes[i].generation != 0 || !lock_byte(g, i)) continue;
    *slot = i;
    return true;
  }
  for (uint32_t i = 0; i < GPU_PROCESSES; i++) {
    if (s->processes[i].started_ns >= oldest || gpu_alive(g, i, NULL) || is_ours_already(&s->processes[i])) continue;
    oldest = s->processes[i].started_ns;
    *slot = i;
  }
  return oldest != UINT64_MAX && lock_byte(g, *slot);
}

bool gpu_join(struct gpu *g, const char *path, const struct gpu_machine *machine, const char **why) {
  *why = map(g, path, machine);
  if (*why != NULL) return true;
  uint32_t slot = 0;
  if (flock(g->fd, LOCK_EX) != 0) {
    *why = strerror(errno);
    return true;
  }
  bool found = find_slot(g, &slot);
  if (found) own_slot(g, slot);
  (void)flock(g->fd, LOCK_UN);
  if (!found) *why = "has no free process slot";
  if (found) clear_slot(g, slot);
  return !found;
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

/* Under the memory lock: gives back what dead processes held. */
static void bury(const struct gpu *g, uint32_t d) {
  for (uint32_t s = 0; s < g->state->process_high; s++) {
    if (g->state->processes[s].on[d].bytes > 0 && !gpu_alive(g, s, NULL)) release_memory(g, s, d);
  }
}

bool gpu_take(struct gpu *g, uint32_t d, uint64_t bytes) {
  struct gpu_device *device = &g->state->devices[d];
  struct gpu_share *share = &g->state->processes[g->slot].on[d];
  lock_memory(g, device, d);
  /* A new peak must not count what the dead still seem to hold: it is the figure that tests of limits look at. */
  if (bytes > device->total - device->used || device->used + bytes > device->peak) bury(g, d);
  bool fits = bytes <= device->total - device->used;
  if (fits) {
    share->bytes += bytes;
    device->used += bytes;
    if (share->bytes > share->peak) share->peak = share->bytes;
    if (device->used > device->peak) device->peak = device->used;
  }
  gpu_unlock(&device->memory_lock);
  return fits;
}

void gpu_give(struct gpu *g, uint32_t d, uint64_t bytes) {
  struct gpu_device *device = &g->state->devices[d];
  lock_memory(g, device, d);
  g->state->processes[g->slot].on[d].bytes -= bytes;
  device->used -= bytes;
  gpu_unlock(&device->memory_lock);
}
