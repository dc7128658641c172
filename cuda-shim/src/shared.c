/* Finding, checking and mapping the regions. What is wrong with them is said in one line. */
#include "shared.h"

#include <stdatomic.h>

#include "alias.h"
#include "log.h"
#include "sys.h"
#include "text.h"

const char *vgpu_config_root = VGPU_CONFIG_ROOT;

static _Atomic(const struct vgpu_shared *) opened;

enum { NOT_FOUND = -2 /* ENOENT */, NOT_A_DIRECTORY = -20 /* ENOTDIR */ };

static bool header_sound(const struct vgpu_header *h, uint32_t magic, uint32_t bytes, uint32_t stride) {
  if (__atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != magic) return false; /* stored last */
  return h->major == VGPU_ABI_MAJOR && h->header_bytes == VGPU_HEADER_BYTES && h->region_bytes == bytes &&
         h->stride == stride && h->device_count <= VGPU_MAX_DEVICES;
}

static void join(char *to, size_t size, const char *directory, const char *file) {
  to[0] = '\0';
  text_append(to, size, directory);
  text_append(to, size, "/");
  text_append(to, size, file);
}

/* Null with a line about it. `stride` 0 stands for no header. */
static void *map(const char *directory, const char *file, uint32_t magic, uint32_t bytes, uint32_t stride, bool write,
                 enum vgpu_log_level level) {
  char path[256];
  join(path, sizeof path, directory, file);
  int fd = sys_openat(AT_FDCWD, path, write ? O_RDWR : O_RDONLY);
  if (fd < 0) {
    vgpu_log(level, "cannot open", path, fd);
    return NULL;
  }
  void *at = NULL;
  if (sys_seek_end(fd) != (long)bytes) {
    vgpu_log(level, "has another size than its layout", path, -1);
  } else {
    at = sys_mmap(bytes, write ? SYS_PROT_READ | SYS_PROT_WRITE : SYS_PROT_READ, SYS_MAP_SHARED, fd);
    if (at == NULL) vgpu_log(level, "cannot map", path, -1);
  }
  (void)sys_close(fd);
  if (at != NULL && !header_sound(at, magic, bytes, stride)) {
    vgpu_log(level, "is broken, or of another version", path, -1);
    (void)sys_munmap(at, bytes);
    at = NULL;
  }
  return at;
}

/* struct statfs of the kernel, up to the flags that we want. */
struct mount_facts {
  long before[10];
  long flags;
  long after[8];
};

static bool read_only_mount(int fd) {
  struct mount_facts facts;
  return sys_fstatfs(fd, &facts) == 0 && (facts.flags & 1 /* ST_RDONLY */) != 0;
}

enum found { FOUND_NONE, FOUND_ONE, FOUND_BAD };

/* Whether the directory has a limits, which then must be on a read-only mount: else the tenant could have made it. */
static enum found look_at(const char *directory) {
  char path[256];
  join(path, sizeof path, directory, VGPU_LIMITS_FILE);
  int fd = sys_openat(AT_FDCWD, path, O_RDONLY);
  if (fd == NOT_FOUND || fd == NOT_A_DIRECTORY) return FOUND_NONE;
  if (fd < 0) {
    vgpu_log(VGPU_LOG_ERROR, "cannot open", path, fd);
    return FOUND_BAD;
  }
  bool sound = read_only_mount(fd);
  (void)sys_close(fd);
  if (!sound) vgpu_log(VGPU_LOG_ERROR, "must be on a read-only mount", path, -1);
  return sound ? FOUND_ONE : FOUND_BAD;
}

struct entry { /* linux_dirent64 */
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
};

static bool of_ours(const char *name) {
  return name[0] == '.' || text_equal(name, VGPU_DRIVER_DIR) || text_equal(name, VGPU_REGISTRY_DIR);
}

/* The one directory below the root that holds a limits. */
static enum found search(char *directory, size_t size) {
  int root = sys_openat(AT_FDCWD, vgpu_config_root, O_RDONLY | O_DIRECTORY);
  if (root == NOT_FOUND || root == NOT_A_DIRECTORY) return FOUND_NONE;
  if (root < 0) {
    vgpu_log(VGPU_LOG_ERROR, "cannot open", vgpu_config_root, root);
    return FOUND_BAD;
  }
  enum found result = FOUND_NONE;
  _Alignas(struct entry) char buffer[2048];
  long n;
  for (int rounds = 0; rounds < 64 && (n = sys_getdents(root, buffer, sizeof buffer)) > 0; rounds++) {
    for (long i = 0; i < n;) {
      const struct entry *e = (const struct entry *)(buffer + i);
      i += e->length;
      char path[192];
      join(path, sizeof path, vgpu_config_root, e->name);
      enum found here = of_ours(e->name) ? FOUND_NONE : look_at(path);
      if (here == FOUND_NONE) continue;
      if (here == FOUND_ONE && result == FOUND_ONE) {
        vgpu_log(VGPU_LOG_ERROR, "more than one limits below", vgpu_config_root, -1);
        here = FOUND_BAD;
      }
      if (result != FOUND_BAD) result = here;
      directory[0] = '\0';
      text_append(directory, size, path);
    }
  }
  (void)sys_close(root);
  return result;
}

static const struct vgpu_shared passive = {.mode = VGPU_PASSIVE};
static const struct vgpu_shared broken = {.mode = VGPU_BROKEN};

static bool switched_off(void) {
  const char *disable = text_environment("CUDA_SHIM_DISABLE");
  return disable != NULL && text_equal(disable, "1");
}

/* Outside containers a program may name a directory itself; inside, the environment has no say. */
static enum found named_by_environment(char *directory, size_t size) {
  const char *named = text_environment("CUDA_SHIM_CONFIG_DIR");
  if (named == NULL || named[0] == '\0') return FOUND_NONE;
  directory[0] = '\0';
  text_append(directory, size, named);
  if (!text_equal(directory, named)) {
    vgpu_log(VGPU_LOG_ERROR, "CUDA_SHIM_CONFIG_DIR is too long", NULL, -1);
    return FOUND_BAD;
  }
  return FOUND_ONE;
}

/* Limits that the environment itself gives: without files nobody else can see them, so they hold for this process alone. */
static enum found made_up(struct vgpu_shared *s) {
  struct vgpu_limits *limits = sys_pages(VGPU_LIMITS_BYTES);
  if (limits == NULL) return FOUND_BAD;
  if (!vgpu_alias_limits(limits)) {
    (void)sys_munmap(limits, VGPU_LIMITS_BYTES);
    return FOUND_NONE;
  }
  limits->header.device_count = VGPU_MAX_DEVICES;
  s->limits = s->own = limits;
  s->usage = sys_pages(VGPU_USAGE_BYTES);
  return s->usage == NULL ? FOUND_BAD : FOUND_ONE;
}

static const struct vgpu_shared *active(struct vgpu_shared *s) {
  s->devices = s->limits->header.device_count;
  s->mode = VGPU_ACTIVE;
  return s;
}

static const struct vgpu_shared *open_regions(void) {
  struct vgpu_shared *s = sys_pages(sizeof *s);
  if (s == NULL) return &broken;
  enum found found = search(s->directory, sizeof s->directory);
  if (found == FOUND_NONE && !switched_off()) {
    found = named_by_environment(s->directory, sizeof s->directory);
    if (found == FOUND_NONE && (found = made_up(s)) == FOUND_ONE) return active(s);
  }
  if (found == FOUND_ONE) {
    s->limits =
        map(s->directory, VGPU_LIMITS_FILE, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, false, VGPU_LOG_ERROR);
    if (s->limits != NULL) {
      s->usage =
          map(s->directory, VGPU_USAGE_FILE, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, true, VGPU_LOG_ERROR);
    }
    if (s->usage != NULL) {
      s->load = map(s->directory, VGPU_LOAD_FILE, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, false, VGPU_LOG_WARNING);
      return active(s);
    }
  }
  if (s->limits != NULL) (void)sys_munmap((void *)(uintptr_t)s->limits, VGPU_LIMITS_BYTES);
  (void)sys_munmap(s, sizeof *s);
  return found == FOUND_NONE ? &passive : &broken;
}

static void close_regions(const struct vgpu_shared *s) {
  if (s == NULL || s->mode != VGPU_ACTIVE) return;
  (void)sys_munmap((void *)(uintptr_t)s->limits, VGPU_LIMITS_BYTES);
  (void)sys_munmap(s->usage, VGPU_USAGE_BYTES);
  if (s->load != NULL) (void)sys_munmap((void *)(uintptr_t)s->load, VGPU_LOAD_BYTES);
  (void)sys_munmap((void *)(uintptr_t)s, sizeof *s);
}

const struct vgpu_shared *vgpu_shared(void) {
  const struct vgpu_shared *known = atomic_load_explicit(&opened, memory_order_acquire);
  if (known != NULL) return known;
  const struct vgpu_shared *mine = open_regions();
  if (atomic_compare_exchange_strong(&opened, &known, mine)) return mine;
  close_regions(mine); /* another thread was quicker */
  return known;
}

void vgpu_shared_forget(void) { close_regions(atomic_exchange(&opened, NULL)); }

/* ---- limits */

struct remembered {
  atomic_uint lock; /* 1 while somebody copies: nobody waits for it */
  bool valid;
  struct vgpu_limit limit;
};
static struct remembered last_good[VGPU_MAX_DEVICES];

static void remember(uint32_t device, const struct vgpu_limit *limit) {
  struct remembered *r = &last_good[device];
  if (atomic_exchange_explicit(&r->lock, 1, memory_order_acquire) != 0) return;
  r->limit = *limit;
  r->valid = true;
  atomic_store_explicit(&r->lock, 0, memory_order_release);
}

static bool recall(uint32_t device, struct vgpu_limit *out) {
  struct remembered *r = &last_good[device];
  if (atomic_exchange_explicit(&r->lock, 1, memory_order_acquire) != 0) return false;
  bool valid = r->valid;
  if (valid) *out = r->limit;
  atomic_store_explicit(&r->lock, 0, memory_order_release);
  return valid;
}

/* acquire, so that seq is read again after all of them */
#define LOAD(field) __atomic_load_n(&d->field, __ATOMIC_ACQUIRE)

bool vgpu_limit_read(const struct vgpu_shared *shared, uint32_t device, struct vgpu_limit *out) {
  if (device >= shared->devices) return false;
  const struct vgpu_limits_device *d = &shared->limits->devices[device];
  for (int tries = 0; tries < VGPU_SEQLOCK_TRIES; tries++) {
    uint32_t seq = __atomic_load_n(&d->seq, __ATOMIC_ACQUIRE);
    if ((seq & 1) != 0) continue;
    *out = (struct vgpu_limit){.flags = LOAD(flags),
                               .context_mib = LOAD(context_mib),
                               .memory = LOAD(mem_limit),
                               .physical = LOAD(mem_physical),
                               .pinned = LOAD(host_pinned_limit),
                               .core_hard_permille = LOAD(core_hard_permille),
                               .core_soft_permille = LOAD(core_soft_permille),
                               .sm_count = LOAD(sm_count),
                               .runahead_us = LOAD(runahead_us),
                               .burst_us = LOAD(burst_us),
                               .max_stall_ms = LOAD(max_stall_ms)};
    if (__atomic_load_n(&d->seq, __ATOMIC_RELAXED) != seq) continue;
    if ((out->flags & VGPU_LIMIT_OVERSUBSCRIBE) == 0 || out->physical > out->memory) out->physical = out->memory;
    if (seq > 0) remember(device, out);
    return (out->flags & VGPU_LIMIT_ACTIVE) != 0;
  }
  return recall(device, out) && (out->flags & VGPU_LIMIT_ACTIVE) != 0;
}
