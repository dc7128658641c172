/* Slots: claiming one, and taking back those of the dead. */
#include "process.h"

#include "log.h"
#include "registration.h"
#include "sys.h"
#include "text.h"

enum { NONE, CLAIMING, READY, CLAIM_TRIES = 1000, WIPE_ON_FORK = 18 /* MADV_WIPEONFORK */ };

static _Atomic(struct vgpu_process *) self;

/*
 * Whether the kernel can clear a page in children: since 4.14, and not where system calls are emulated. Those say yes to
 * anything, so ask for what a true kernel refuses too: clearing shared memory.
 */
static bool clears_on_fork(struct vgpu_process *p) {
  void *shared = sys_mmap(4096, SYS_PROT_READ, SYS_MAP_SHARED | SYS_MAP_ANONYMOUS, -1);
  bool honest = shared != NULL && sys_madvise(shared, 4096, WIPE_ON_FORK) != 0;
  if (shared != NULL) (void)sys_munmap(shared, 4096);
  return honest && sys_madvise(p, 4096, WIPE_ON_FORK) == 0;
}

/* One page for ever. A child finds it cleared, or else by the pid that it is another's. */
static struct vgpu_process *page(void) {
  struct vgpu_process *known = atomic_load_explicit(&self, memory_order_acquire);
  if (known != NULL) return known;
  struct vgpu_process *p = sys_pages(sizeof *p);
  if (p == NULL) return NULL;
  p->check_pid = !clears_on_fork(p);
  if (atomic_compare_exchange_strong(&self, &known, p)) return p;
  (void)sys_munmap(p, sizeof *p);
  return known;
}

/* ---- what /proc says */

uint64_t vgpu_start_time(int pid, bool *zombie) {
  char path[40] = "/proc/", text[512];
  text_append_number(path, sizeof path, (uint64_t)pid);
  text_append(path, sizeof path, "/stat");
  *zombie = false;
  int fd = sys_openat(AT_FDCWD, path, O_RDONLY);
  if (fd < 0) return 0;
  long n = sys_read(fd, text, sizeof text - 1);
  (void)sys_close(fd);
  long at = n - 1;
  while (at >= 0 && text[at] != ')') at--; /* the name may hold anything, also brackets */
  if (at < 0) return 0;
  int field = 2;
  uint64_t value = 0;
  for (at++; at < n && field < 23; at++) {
    if (text[at] == ' ') {
      field++;
    } else if (field == 3) {
      *zombie = text[at] == 'Z' || text[at] == 'X';
    } else if (field == 22 && text[at] >= '0' && text[at] <= '9') {
      value = value * 10 + (uint64_t)(text[at] - '0');
    }
  }
  return value;
}

static bool gone(int pid, uint64_t start_time) {
  if (pid <= 0) return true; /* died before it wrote who it is */
  bool zombie;
  uint64_t now = vgpu_start_time(pid, &zombie);
  if (now != 0) return zombie || (start_time != 0 && now != start_time);
  return sys_kill(pid, 0) == -3; /* ESRCH; also where /proc hides others' processes */
}

/* ---- claiming */

uint32_t vgpu_high_water(const struct vgpu_shared *shared) {
  uint32_t n = __atomic_load_n(&shared->usage->header.slot_high_water, __ATOMIC_SEQ_CST);
  return n < VGPU_SLOTS ? n : VGPU_SLOTS;
}

static void raise_high_water(const struct vgpu_shared *shared, uint32_t to) {
  uint32_t *word = &shared->usage->header.slot_high_water, now = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  /* bounded: another process may write anything there, at any speed */
  for (int i = 0; i < CLAIM_TRIES && now < to; i++) {
    if (__atomic_compare_exchange_n(word, &now, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  }
}

static void clear_figures(struct vgpu_usage_slot *s) {
  for (int d = 0; d < VGPU_MAX_DEVICES; d++) {
    __atomic_store_n(&s->bytes[d], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->overhead_pages[d], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->managed_pages[d], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->inflight_us[d], 0, __ATOMIC_SEQ_CST);
  }
  __atomic_store_n(&s->open_since_ns, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&s->host_pinned_bytes, 0, __ATOMIC_SEQ_CST);
}

static uint32_t state_of(const struct vgpu_usage_slot *s) { return __atomic_load_n(&s->state, __ATOMIC_SEQ_CST); }

/* The lock first: a claiming slot without one belongs to somebody who died in between. */
static bool claim_slot(const struct vgpu_shared *shared, struct vgpu_process *p, uint32_t k) {
  struct vgpu_usage_slot *s = &shared->usage->slots[k];
  uint32_t free_state = VGPU_SLOT_FREE;
  if (state_of(s) != VGPU_SLOT_FREE || !sys_lock_byte(p->lock_fd, VGPU_LOCK_SLOT_BASE + k, true)) return false;
  if (!__atomic_compare_exchange_n(&s->state, &free_state, VGPU_SLOT_CLAIMING, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    (void)sys_lock_byte(p->lock_fd, VGPU_LOCK_SLOT_BASE + k, false);
    return false;
  }
  clear_figures(s);
  __atomic_store_n(&s->pid, p->pid, __ATOMIC_SEQ_CST);
  __atomic_store_n(&s->start_time, p->start_time, __ATOMIC_SEQ_CST);
  __atomic_store_n(&s->generation, s->generation + 1, __ATOMIC_SEQ_CST);
  raise_high_water(shared, k + 1); /* before anything is charged to it */
  __atomic_store_n(&s->state, VGPU_SLOT_LIVE, __ATOMIC_SEQ_CST);
  p->slot = k;
  return true;
}

static void begin(struct vgpu_process *p) {
  bool zombie;
  p->pid = sys_getpid();
  p->start_time = vgpu_start_time(p->pid, &zombie);
  for (int d = 0; d < VGPU_MAX_DEVICES; d++) atomic_store(&p->bytes[d], 0);
}

/* A region of our own has one slot in use. A forked child has a copy of its parent's, and begins with nothing. */
static bool claim_own(const struct vgpu_shared *shared, struct vgpu_process *p) {
  struct vgpu_usage_slot *s = &shared->usage->slots[0];
  begin(p);
  p->lock_fd = -1;
  p->slot = 0;
  clear_figures(s);
  __atomic_store_n(&s->pid, p->pid, __ATOMIC_SEQ_CST);
  __atomic_store_n(&s->start_time, p->start_time, __ATOMIC_SEQ_CST);
  raise_high_water(shared, 1);
  __atomic_store_n(&s->state, VGPU_SLOT_LIVE, __ATOMIC_SEQ_CST);
  return true;
}

static bool claim(const struct vgpu_shared *shared, struct vgpu_process *p) {
  if (shared->own != NULL) return claim_own(shared, p);
  char path[256] = "";
  text_append(path, sizeof path, shared->directory);
  text_append(path, sizeof path, "/" VGPU_USAGE_LOCK_FILE);
  p->lock_fd = sys_openat(AT_FDCWD, path, O_RDWR);
  if (p->lock_fd < 0) {
    vgpu_log(VGPU_LOG_ERROR, "cannot open", path, p->lock_fd);
    return false;
  }
  begin(p);
  for (int round = 0; round < 2; round++) {
    for (uint32_t k = 0; k < VGPU_SLOTS; k++) {
      if (claim_slot(shared, p, k)) return true;
    }
    (void)vgpu_reap(shared);
  }
  vgpu_log(VGPU_LOG_ERROR, "no free slot for this process", path, -1);
  (void)sys_close(p->lock_fd);
  return false;
}

struct vgpu_process *vgpu_process_claimed(void) {
  struct vgpu_process *p = atomic_load_explicit(&self, memory_order_acquire);
  if (p == NULL || atomic_load_explicit(&p->state, memory_order_acquire) != READY) return NULL;
  if (p->check_pid && p->pid != sys_getpid()) {
    atomic_store(&p->state, NONE); /* a child's copy of its parent's */
    return NULL;
  }
  return p;
}

struct vgpu_process *vgpu_process(void) {
  struct vgpu_process *p = vgpu_process_claimed();
  if (p != NULL) return p;
  const struct vgpu_shared *shared = vgpu_shared();
  if (shared->mode != VGPU_ACTIVE || (p = page()) == NULL) return NULL;
  unsigned int none = NONE;
  if (atomic_compare_exchange_strong(&p->state, &none, CLAIMING)) {
    bool claimed = claim(shared, p);
    atomic_store_explicit(&p->state, claimed ? READY : NONE, memory_order_release);
    if (claimed) vgpu_register(shared, p); /* after that, so that other threads do not wait for the agent */
    return claimed ? p : NULL;
  }
  for (int i = 0; i < 100 && atomic_load_explicit(&p->state, memory_order_acquire) == CLAIMING; i++) sys_sleep_ns(1000000);
  return vgpu_process_claimed();
}

void vgpu_process_forget(void) {
  struct vgpu_process *p = atomic_exchange(&self, NULL);
  if (p == NULL) return;
  if (atomic_load(&p->state) == READY && p->lock_fd >= 0) (void)sys_close(p->lock_fd);
  (void)sys_munmap(p, sizeof *p);
}

/* ---- reaping */

/*
 * Dead is who holds no lock and is gone by /proc as well. A forked child that lives on keeps its parent's lock, and rightly
 * so: it also keeps the driver's descriptors, and with them the parent's device memory.
 */
static bool reap_slot(const struct vgpu_shared *shared, int fd, uint32_t k) {
  struct vgpu_usage_slot *s = &shared->usage->slots[k];
  if (state_of(s) == VGPU_SLOT_FREE || sys_byte_locked(fd, VGPU_LOCK_SLOT_BASE + k)) return false;
  int pid = __atomic_load_n(&s->pid, __ATOMIC_SEQ_CST);
  uint64_t start_time = __atomic_load_n(&s->start_time, __ATOMIC_SEQ_CST);
  if (!gone(pid, start_time)) return false;
  /* the lock is the right to clear the slot; who dies with it leaves a slot that is reaped again */
  if (!sys_lock_byte(fd, VGPU_LOCK_SLOT_BASE + k, true)) return false;
  bool still = state_of(s) != VGPU_SLOT_FREE && __atomic_load_n(&s->pid, __ATOMIC_SEQ_CST) == pid;
  if (still) {
    __atomic_store_n(&s->state, VGPU_SLOT_REAPING, __ATOMIC_SEQ_CST);
    clear_figures(s);
    __atomic_store_n(&s->pid, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->state, VGPU_SLOT_FREE, __ATOMIC_SEQ_CST);
  }
  (void)sys_lock_byte(fd, VGPU_LOCK_SLOT_BASE + k, false);
  return still;
}

int vgpu_reap(const struct vgpu_shared *shared) {
  if (shared->own != NULL) return 0; /* nobody else is in it */
  char path[256] = "";
  text_append(path, sizeof path, shared->directory);
  text_append(path, sizeof path, "/" VGPU_USAGE_LOCK_FILE);
  int fd = sys_openat(AT_FDCWD, path, O_RDWR);
  if (fd < 0) return 0;
  const struct vgpu_process *me = vgpu_process_claimed();
  int reaped = 0;
  uint32_t slots = vgpu_high_water(shared);
  for (uint32_t k = 0; k < slots; k++) {
    if (me != NULL && me->slot == k) continue;
    if (reap_slot(shared, fd, k)) reaped++;
  }
  (void)sys_close(fd); /* drops every lock of this descriptor */
  return reaped;
}
