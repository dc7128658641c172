/* Reading the fake cards from outside: maps the file read-only and takes no lock. */
#define _GNU_SOURCE
#include "gpu_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t gpu_clock_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool gpu_state_path(const char *profile_path, char *out, size_t bytes) {
  const char *env = getenv("FAKE_GPUS_STATE");
  bool named = env != NULL && *env != '\0';
  int n = named ? snprintf(out, bytes, "%s", env) : snprintf(out, bytes, "%s.state", profile_path);
  return n > 0 && (size_t)n < bytes;
}

bool gpu_open_reader(struct gpu *g, const char *path, const char **why) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    *why = strerror(errno);
    return true;
  }
  /* From here on the descriptor stays open, also on error: closing it could drop this process's own slot. */
  if (fstat(fd, &st) != 0 || st.st_size != (off_t)sizeof(struct gpu_state)) {
    *why = "has not the size of a state file";
    return true;
  }
  void *at = mmap(NULL, sizeof(struct gpu_state), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    *why = strerror(errno);
    return true;
  }
  struct gpu_state *state = at;
  if (atomic_load(&state->magic) == GPU_MAGIC && state->version == GPU_VERSION) {
    *g = (struct gpu){.state = state, .fd = fd};
    return false;
  }
  (void)munmap(at, sizeof(struct gpu_state));
  *why = "is no state file of this version";
  return true;
}

bool gpu_alive(const struct gpu *g, uint32_t slot, int *pid) {
  if (pid != NULL) *pid = 0;
  if (g->tag != 0 && slot == g->slot) { /* one does not see one's own record locks */
    if (pid != NULL) *pid = (int)getpid();
    return true;
  }
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
  if (fcntl(g->fd, F_GETLK, &lock) != 0) return true; /* cannot tell: nobody is robbed */
  if (lock.l_type != F_UNLCK) {
    if (pid != NULL) *pid = (int)lock.l_pid;
    return true;
  }
  /* A reader in the same process as the owner: its own lock does not show. */
  const struct gpu_process *p = &g->state->processes[slot];
  struct stat ns;
  bool own = p->pid == (int32_t)getpid() && stat("/proc/self/ns/pid", &ns) == 0 && p->pid_namespace == (uint64_t)ns.st_ino;
  if (own && pid != NULL) *pid = (int)getpid();
  return own;
}

uint64_t gpu_used_by_living(const struct gpu *g, uint32_t device) {
  uint64_t sum = 0;
  for (uint32_t s = 0; s < g->state->process_high && s < GPU_PROCESSES; s++) {
    uint64_t bytes = g->state->processes[s].on[device].bytes;
    if (bytes > 0 && gpu_alive(g, s, NULL)) sum += bytes;
  }
  return sum;
}

static bool anything_queued(const struct gpu *g, uint32_t device) {
  for (uint32_t q = 0; q < g->state->devices[device].queue_high && q < GPU_QUEUES; q++) {
    const struct gpu_queue *queue = &g->state->queues[device][q];
    uint32_t owner = queue->owner;
    if (owner != 0 && queue->pushed != queue->done && gpu_alive(g, (owner & 0xFFFFu) - 1, NULL)) return true;
  }
  return false;
}

unsigned gpu_busy_permille(const struct gpu *g, uint32_t device, uint64_t now_ns, uint64_t window_ns) {
  const struct gpu_device *d = &g->state->devices[device];
  uint64_t from = now_ns / GPU_BUCKET_NS - window_ns / GPU_BUCKET_NS, busy = 0;
  for (int i = 0; i < GPU_BUCKETS; i++) {
    if (d->buckets[i].number > from) busy += d->buckets[i].busy_ns;
  }
  uint64_t known = d->now_ns;
  if (known < now_ns && anything_queued(g, device)) busy += now_ns - known < window_ns ? now_ns - known : window_ns;
  uint64_t span = now_ns - (from + 1) * GPU_BUCKET_NS;
  if (span == 0) return 0;
  return busy >= span ? 1000 : (unsigned)(busy * 1000 / span);
}
