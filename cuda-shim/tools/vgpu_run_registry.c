/*
 * Who runs on a card. A tenant's directory is alive as long as somebody holds the lock on its file `alive`; the command
 * inherits it, so a launcher that is killed leaves a directory that lives as long as its command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vgpu_run.h"

static const char *const FILES[] = {VGPU_LIMITS_FILE, VGPU_LOAD_FILE, VGPU_USAGE_FILE, VGPU_USAGE_LOCK_FILE, "alive", "about"};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

/* False: too long. */
static bool join(char out[RUN_PATH], const char *directory, const char *name) {
  size_t n = strlen(directory), m = strlen(name);
  if (n + 1 + m >= RUN_PATH) return false;
  memmove(out, directory, n);
  out[n] = '/';
  memcpy(out + n + 1, name, m + 1);
  return true;
}

/* A directory that is ours alone; ends the program if something else is there. */
static void own_directory(const char *path) {
  struct stat s;
  if (mkdir(path, 0700) != 0 && errno != EEXIST) run_fail("%s: cannot be made: %s", path, strerror(errno));
  if (lstat(path, &s) != 0) run_fail("%s: %s", path, strerror(errno));
  if (!S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & 077) != 0) {
    run_fail("%s: must be a directory of this user's, with mode 0700", path);
  }
}

bool run_card_directory(const char *uuid, bool make, char out[RUN_PATH]) {
  char base[RUN_PATH];
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  int n = runtime != NULL && runtime[0] == '/' ? snprintf(base, sizeof base, "%s/vgpu-run", runtime)
                                               : snprintf(base, sizeof base, "/tmp/vgpu-run-%u", (unsigned)geteuid());
  /* a card and a tenant come behind it */
  if (n < 0 || n > RUN_PATH - 80) run_fail("XDG_RUNTIME_DIR: \"%s\": must be shorter", runtime == NULL ? "" : runtime);
  (void)join(out, base, uuid);
  if (!make && access(out, F_OK) != 0) return false;
  own_directory(base);
  own_directory(out);
  return true;
}

static void remove_tenant(const char *directory) {
  char path[RUN_PATH];
  for (int i = 0; i < FILE_COUNT; i++) {
    if (join(path, directory, FILES[i])) (void)unlink(path);
  }
  (void)rmdir(directory);
}

/* Whether nobody holds the lock; if so, it is held through *fd. */
static bool is_dead(const char *directory, int *fd) {
  char path[RUN_PATH];
  *fd = -1;
  if (!join(path, directory, "alive")) return false;
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (*fd < 0) return errno == ENOENT;
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return true;
  (void)close(*fd);
  *fd = -1;
  return false;
}

/* Directories that are being made begin with a dot: they are left alone for a minute. */
static bool is_new(const char *directory, const char *name) {
  struct stat s;
  return name[0] == '.' && stat(directory, &s) == 0 && time(NULL) - s.st_mtime < 60;
}

unsigned run_tenants(const char *card_directory, char names[RUN_TENANTS][32]) {
  DIR *dir = opendir(card_directory);
  if (dir == NULL) return 0;
  unsigned count = 0;
  const struct dirent *e;
  for (int seen = 0; seen < 4096 && (e = readdir(dir)) != NULL; seen++) {
    char path[RUN_PATH];
    struct stat s;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strlen(e->d_name) >= 32) continue;
    if (!join(path, card_directory, e->d_name) || lstat(path, &s) != 0 || !S_ISDIR(s.st_mode) || is_new(path, e->d_name))
      continue;
    int fd;
    if (is_dead(path, &fd)) {
      remove_tenant(path);
      if (fd >= 0) (void)close(fd);
    } else if (e->d_name[0] != '.' && count < RUN_TENANTS) {
      (void)snprintf(names[count++], 32, "%.31s", e->d_name);
    }
  }
  (void)closedir(dir);
  return count;
}

bool run_about(const char *card_directory, const char *tenant, char out[RUN_TEXT]) {
  char directory[RUN_PATH], path[RUN_PATH];
  if (!join(directory, card_directory, tenant) || !join(path, directory, "about")) return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  ssize_t n = read(fd, out, RUN_TEXT - 1);
  (void)close(fd);
  out[n < 0 ? 0 : n] = '\0';
  return n > 0;
}

/* ---- making one ------------------------------------------------------------------------------------------------------- */

static uint64_t boot_id_hash(void) {
  char text[36];
  uint64_t hash = VGPU_FNV_OFFSET;
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
  if (fd >= 0) (void)close(fd);
  for (ssize_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)text[i]) * VGPU_FNV_PRIME;
  return hash;
}

static struct vgpu_header header(uint32_t magic, uint32_t bytes, uint32_t stride) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (struct vgpu_header){.magic = magic,
                              .major = VGPU_ABI_MAJOR,
                              .minor = VGPU_ABI_MINOR,
                              .header_bytes = VGPU_HEADER_BYTES,
                              .region_bytes = bytes,
                              .device_count = 1,
                              .stride = stride,
                              .writer_epoch = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                              .boot_id_hash = boot_id_hash()};
}

/* Whole, with every byte written: a full disk is to be noticed here, not in the command. */
static void write_file(const char *directory, const char *name, const void *bytes, size_t length, size_t size) {
  static const unsigned char zeros[65536];
  char path[RUN_PATH];
  if (!join(path, directory, name)) run_fail("%s: must be shorter", directory);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = fd >= 0 && write(fd, bytes, length) == (ssize_t)length;
  for (size_t at = length; ok && at < size;) {
    size_t n = size - at < sizeof zeros ? size - at : sizeof zeros;
    ok = write(fd, zeros, n) == (ssize_t)n;
    at += n;
  }
  if (!ok) {
    int error = errno;
    remove_tenant(directory);
    run_fail("%s: cannot be written: %s", path, strerror(error));
  }
  (void)close(fd);
}

static struct vgpu_limits_device limits_of(const struct run_card *card, const struct run_arguments *a) {
  struct vgpu_limits_device d = {.flags = VGPU_LIMIT_ACTIVE,
                                 .nvml_index = card->index,
                                 .sm_count = card->multiprocessors,
                                 .core_hard_permille = VGPU_PERMILLE_FULL};
  memcpy(d.uuid, card->uuid, sizeof d.uuid);
  if (a->memory_mib != 0) d.flags |= VGPU_LIMIT_MEMORY;
  d.mem_limit = d.mem_physical = a->memory_mib != 0 ? a->memory_mib << 20 : card->total_bytes;
  if (a->cores != 0 && a->policy != RUN_NONE) {
    d.flags |= VGPU_LIMIT_COMPUTE | (a->policy == RUN_BALANCE ? VGPU_LIMIT_BALANCE : 0);
    d.core_hard_permille = a->cores * 10;
  }
  if (a->mps) d.flags |= VGPU_LIMIT_MPS;
  if (a->latency) d.flags |= VGPU_LIMIT_LATENCY;
  d.core_soft_permille = a->policy == RUN_BALANCE ? VGPU_PERMILLE_FULL : d.core_hard_permille;
  return d;
}

/* Tabs between the fields, which --list prints. */
static size_t describe(const struct run_arguments *a, char out[RUN_TEXT]) {
  char memory[24] = "-", cores[24] = "-";
  if (a->memory_mib != 0) (void)snprintf(memory, sizeof memory, "%" PRIu64, a->memory_mib);
  if (a->cores != 0) (void)snprintf(cores, sizeof cores, "%" PRIu32, a->cores);
  int n = snprintf(out, RUN_TEXT, "%ld\t%s\t%s\t%s\t%.80s", (long)getpid(), memory, cores,
                   a->mps ? "mps" : run_policy_name(a->policy), a->command[0]);
  for (int i = 0; i < n; i++) {
    if (out[i] != '\t' && (out[i] < ' ' || out[i] > '~')) out[i] = '?'; /* it will be shown on a terminal */
  }
  return n < 0 ? 0 : (size_t)n;
}

void run_enter(const struct run_card *card, const struct run_arguments *arguments, struct run_place *out) {
  char names[RUN_TENANTS][32], name[32], making[RUN_PATH], path[RUN_PATH], about[RUN_TEXT];
  (void)run_card_directory(card->uuid, true, out->card);
  if (run_tenants(out->card, names) >= RUN_TENANTS) run_fail("%d commands run on this card already", RUN_TENANTS);
  struct timespec now; /* besides the pid, since a command may outlive a launcher whose pid is ours now */
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  (void)snprintf(name, sizeof name, ".%ld-%ld%03ld", (long)getpid(), (long)now.tv_sec, now.tv_nsec / 1000000);
  if (!join(making, out->card, name) || !join(out->tenant, out->card, name + 1)) run_fail("%s: must be shorter", out->card);
  own_directory(making);
  if (!join(path, making, "alive")) run_fail("%s: must be shorter", making);
  out->alive = open(path, O_RDONLY | O_CREAT | O_EXCL, 0600);
  if (out->alive < 0 || flock(out->alive, LOCK_EX | LOCK_NB) != 0) run_fail("%s: %s", path, strerror(errno));
  static struct vgpu_limits limits;
  limits.header = header(VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE);
  limits.devices[0] = limits_of(card, arguments);
  struct vgpu_header usage = header(VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE);
  struct vgpu_header load = header(VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE);
  write_file(making, VGPU_LIMITS_FILE, &limits, sizeof limits, VGPU_LIMITS_BYTES);
  write_file(making, VGPU_USAGE_FILE, &usage, sizeof usage, VGPU_USAGE_BYTES);
  write_file(making, VGPU_USAGE_LOCK_FILE, "", 0, VGPU_USAGE_LOCK_BYTES);
  write_file(making, VGPU_LOAD_FILE, &load, sizeof load, VGPU_LOAD_BYTES);
  size_t length = describe(arguments, about);
  write_file(making, "about", about, length, length);
  if (rename(making, out->tenant) != 0) {
    int error = errno;
    remove_tenant(making);
    run_fail("%s: %s", out->tenant, strerror(error));
  }
}

void run_leave(struct run_place *place) {
  int fd;
  (void)close(place->alive);
  if (is_dead(place->tenant, &fd)) remove_tenant(place->tenant);
  if (fd >= 0) (void)close(fd);
}
