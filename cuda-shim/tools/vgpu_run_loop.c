/*
 * What the agent does on a node, for the launchers of one card: reads every tenant's usage, refunds, writes load, wakes who
 * sleeps on it. Nothing of a tenant's is mapped for reading: a file that becomes shorter must not end us.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "refund/next_look.h"
#include "refund/refund.h"
#include "refund/turns.h"
#include "refund/util.h"
#include "vgpu_run.h"

enum { SLOW_MS = 100, HEAD_BYTES = offsetof(struct vgpu_usage, exports) };

struct tenant {
  char directory[32];
  bool present;
  uint64_t name;
  int usage, load;
  void *word_page; /* of load, only for its address */
  struct vgpu_limits_device limits;
  struct vgpu_load_device last; /* what load says */
  uint64_t granted;             /* by the ledger */
  struct util util;
  uint32_t slot_count;
  struct vgpu_usage_slot slots[VGPU_RING_SLOTS];
  struct vgpu_ring rings[VGPU_RING_SLOTS];
  union {
    unsigned char bytes[HEAD_BYTES];
    struct {
      struct vgpu_header header;
      struct vgpu_usage_device devices[VGPU_MAX_DEVICES];
    } usage;
  } head;
};

struct run_loop {
  char card_directory[RUN_PATH];
  int lock; /* -1: another one leads */
  int64_t scanned_ns;
  uint64_t names;
  struct tenant *tenants[RUN_TENANTS];
  struct turn_card turns;
  struct refund_card card;
};

static int64_t now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct run_loop *run_loop_begin(const char *card_directory, const char *card_name) {
  struct run_loop *loop = calloc(1, sizeof *loop);
  if (loop == NULL) return NULL;
  (void)snprintf(loop->card_directory, RUN_PATH, "%s", card_directory);
  loop->lock = -1;
  refund_begin(&loop->card, gpu_model_of(card_name));
  return loop;
}

static void drop_tenant(struct tenant **at) {
  struct tenant *t = *at;
  if (t == NULL) return;
  if (t->usage >= 0) (void)close(t->usage);
  if (t->load >= 0) (void)close(t->load);
  if (t->word_page != MAP_FAILED) (void)munmap(t->word_page, VGPU_LOAD_BYTES);
  free(t);
  *at = NULL;
}

void run_loop_end(struct run_loop *loop) {
  for (int i = 0; i < RUN_TENANTS; i++) drop_tenant(&loop->tenants[i]);
  if (loop->lock >= 0) (void)close(loop->lock);
  free(loop);
}

void run_loop_yield(struct run_loop *loop) {
  for (int i = 0; i < RUN_TENANTS; i++) drop_tenant(&loop->tenants[i]);
  refund_begin(&loop->card, loop->card.model); /* refunds go on from what load says by then */
  loop->scanned_ns = 0;
  if (loop->lock >= 0) (void)close(loop->lock);
  loop->lock = -1;
}

static bool try_to_lead(struct run_loop *loop) {
  char path[RUN_PATH + 8];
  (void)snprintf(path, sizeof path, "%s/leader", loop->card_directory);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    (void)close(fd);
    return false;
  }
  loop->lock = fd;
  char text[24];
  int n = snprintf(text, sizeof text, "%ld\n", (long)getpid()); /* for people */
  if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)n) != n) run_say("%s: cannot be written", path);
  return true;
}

/* ---- tenants ---------------------------------------------------------------------------------------------------------- */

static int open_in(const struct run_loop *loop, const char *tenant, const char *file, int how) {
  char path[RUN_PATH + 64];
  (void)snprintf(path, sizeof path, "%s/%.31s/%.15s", loop->card_directory, tenant, file);
  return open(path, how | O_CLOEXEC | O_NOFOLLOW);
}

static bool read_at(int fd, void *to, size_t bytes, size_t at) { return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes; }

static struct tenant *add_tenant(struct run_loop *loop, const char *directory) {
  struct tenant *t = calloc(1, sizeof *t);
  if (t == NULL) return NULL;
  (void)snprintf(t->directory, sizeof t->directory, "%.31s", directory);
  t->word_page = MAP_FAILED;
  t->usage = open_in(loop, directory, VGPU_USAGE_FILE, O_RDONLY);
  t->load = open_in(loop, directory, VGPU_LOAD_FILE, O_RDWR);
  int limits = open_in(loop, directory, VGPU_LIMITS_FILE, O_RDONLY);
  bool ok = t->usage >= 0 && t->load >= 0 && limits >= 0 &&
            read_at(limits, &t->limits, sizeof t->limits, offsetof(struct vgpu_limits, devices)) &&
            read_at(t->load, &t->last, sizeof t->last, offsetof(struct vgpu_load, devices));
  if (ok) t->word_page = mmap(NULL, VGPU_LOAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, t->load, 0);
  if (limits >= 0) (void)close(limits);
  if (!ok || t->word_page == MAP_FAILED) {
    drop_tenant(&t);
    return NULL;
  }
  t->name = ++loop->names;
  return t;
}

static void scan(struct run_loop *loop) {
  char names[RUN_TENANTS][32];
  unsigned count = run_tenants(loop->card_directory, names);
  for (int i = 0; i < RUN_TENANTS; i++) {
    if (loop->tenants[i] != NULL) loop->tenants[i]->present = false;
  }
  for (unsigned k = 0; k < count; k++) {
    struct tenant **unused = NULL, *known = NULL;
    for (int i = 0; i < RUN_TENANTS; i++) {
      struct tenant *t = loop->tenants[i];
      if (t == NULL) unused = &loop->tenants[i];
      if (t != NULL && strcmp(t->directory, names[k]) == 0) known = t;
    }
    if (known == NULL && unused != NULL) known = *unused = add_tenant(loop, names[k]);
    if (known != NULL) known->present = true;
  }
  for (int i = 0; i < RUN_TENANTS; i++) {
    if (loop->tenants[i] != NULL && !loop->tenants[i]->present) drop_tenant(&loop->tenants[i]);
  }
}

/* Slots before rings. A file that is too short has none, and its figures stay as they were. */
static void copy(struct tenant *t) {
  t->slot_count = 0;
  unsigned char head[HEAD_BYTES];
  if (!read_at(t->usage, head, sizeof head, 0)) return;
  memcpy(t->head.bytes, head, sizeof head);
  uint32_t count = t->head.usage.header.slot_high_water;
  if (count > VGPU_RING_SLOTS) count = VGPU_RING_SLOTS;
  if (count > 0 && (!read_at(t->usage, t->slots, count * sizeof t->slots[0], VGPU_SLOTS_OFFSET) ||
                    !read_at(t->usage, t->rings, count * sizeof t->rings[0], VGPU_RINGS_OFFSET))) {
    return;
  }
  t->slot_count = count;
}

/* ---- one round -------------------------------------------------------------------------------------------------------- */

static bool limited(const struct tenant *t) { return (t->limits.flags & VGPU_LIMIT_COMPUTE) != 0; }

static bool borrows(const struct tenant *t) { return !limited(t) || (t->limits.flags & VGPU_LIMIT_BALANCE) != 0; }

static struct refund_look look_at(const struct tenant *t) {
  uint32_t most = borrows(t) ? t->limits.core_soft_permille : t->limits.core_hard_permille;
  return (struct refund_look){.name = t->name,
                              .device = 0,
                              .device_count = 1,
                              .share_permille = limited(t) ? most : VGPU_PERMILLE_FULL,
                              .slot_count = t->slot_count,
                              .raw_busy_ns = t->head.usage.devices[0].raw_busy_ns,
                              .bucket_ns = t->head.usage.devices[0].bucket_ns,
                              .slots = t->slots,
                              .rings = t->rings};
}

static struct turn_look turn_look_at(const struct tenant *t, const struct refund_container *c) {
  bool working = false;
  for (uint32_t k = 0; k < t->slot_count; k++) {
    const struct vgpu_usage_slot *s = &t->slots[k];
    working = working || (s->state == VGPU_SLOT_LIVE && s->open_since_ns != 0 && s->inflight_us[0] != 0);
  }
  return (struct turn_look){.name = t->name,
                            .working = working,
                            .latency = (t->limits.flags & VGPU_LIMIT_LATENCY) != 0,
                            .borrows = borrows(t),
                            .permille = limited(t) ? t->limits.core_hard_permille : VGPU_PERMILLE_FULL,
                            .bucket_ns = t->head.usage.devices[0].bucket_ns,
                            .longest_ns = c->longest_ns[0] > c->longest_ns[1] ? c->longest_ns[0] : c->longest_ns[1]};
}

static bool write_at(int fd, const void *from, size_t bytes, size_t at) {
  return pwrite(fd, from, bytes, (off_t)at) == (ssize_t)bytes;
}

/* By the seqlock; the kernel keeps the writes in order. */
static void write_load(struct tenant *t, struct vgpu_load_device next, bool news) {
  const size_t at = offsetof(struct vgpu_load, devices);
  uint32_t odd = t->last.seq | 1;
  next.seq = odd + 1;
  if (!write_at(t->load, &odd, sizeof odd, at)) return;
  (void)write_at(t->load, (unsigned char *)&next + sizeof odd, sizeof next - sizeof odd, at + sizeof odd);
  (void)write_at(t->load, &next.seq, sizeof next.seq, at);
  t->last = next;
  if (news) (void)syscall(SYS_futex, (unsigned char *)t->word_page + at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void tell(struct tenant *t, const struct refund_container *c, struct turn turn, int64_t now) {
  struct vgpu_load_device next = t->last;
  next.refund_ns += c->refund_ns - t->granted;
  t->granted = c->refund_ns;
  next.container_util_permille = util_look(&t->util, now, t->head.usage.devices[0].raw_busy_ns, c->refund_ns);
  next.others_active = c->others_active;
  next.sample_ns = (uint64_t)now;
  next.turn_period_us = turn.period_us;
  next.turn_offset_us = turn.offset_us;
  next.turn_length_us = turn.length_us;
  bool news = next.refund_ns != t->last.refund_ns || next.others_active != t->last.others_active ||
              next.turn_period_us != t->last.turn_period_us || next.turn_offset_us != t->last.turn_offset_us ||
              next.turn_length_us != t->last.turn_length_us;
  write_load(t, next, news);
}

/* Returns how many processes are active. */
static uint32_t lead(struct run_loop *loop, int64_t now) {
  struct refund_look looks[RUN_TENANTS];
  struct turn_look turn_looks[RUN_TENANTS];
  struct turn turns[RUN_TENANTS];
  struct tenant *known[RUN_TENANTS];
  uint32_t count = 0, told = 0, active = 0;
  for (int i = 0; i < RUN_TENANTS; i++) {
    if (loop->tenants[i] == NULL) continue;
    copy(loop->tenants[i]);
    looks[count++] = look_at(loop->tenants[i]);
  }
  refund_tick(&loop->card, looks, count, now);
  for (int i = 0; i < RUN_TENANTS; i++) {
    const struct refund_container *c = loop->tenants[i] == NULL ? NULL : refund_find(&loop->card, loop->tenants[i]->name);
    if (c == NULL) continue;
    active += c->active;
    turn_looks[told] = turn_look_at(loop->tenants[i], c);
    known[told++] = loop->tenants[i];
  }
  turn_plan(&loop->turns, turn_looks, told, now, turns);
  for (uint32_t i = 0; i < told; i++) tell(known[i], refund_find(&loop->card, known[i]->name), turns[i], now);
  return active;
}

int run_loop_step(struct run_loop *loop) {
  if (loop->lock < 0 && !try_to_lead(loop)) return SLOW_MS;
  int64_t now = now_ns();
  if (loop->scanned_ns == 0 || now - loop->scanned_ns >= SLOW_MS * REFUND_MS) {
    loop->scanned_ns = now;
    scan(loop);
  }
  return lead(loop, now) >= 2 ? (int)(next_look_ns(&loop->card, &loop->turns) / REFUND_MS) : SLOW_MS;
}
