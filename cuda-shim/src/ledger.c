/* Charging: publish, sum, compare; and the slow path of those who did not fit. */
#include "ledger.h"

#include "log.h"
#include "pool.h"
#include "sys.h"
#include "text.h"

enum { LOCK_WAIT_NS = 5000000, LOCK_STEP_NS = 200000 };
/* More than any card has: what is beyond is garbage, and sums of it cannot overflow. */
#define ABSURD ((uint64_t)1 << 48)

atomic_uint vgpu_contexts[VGPU_MAX_DEVICES];

static uint64_t pages(uint64_t bytes) { return (bytes + VGPU_PAGE_BYTES - 1) / VGPU_PAGE_BYTES; }

/* ---- sums */

static uint64_t sane(int64_t bytes) { return bytes < 0 ? 0 : (uint64_t)bytes > ABSURD ? ABSURD : (uint64_t)bytes; }

#define SLOT(field) __atomic_load_n(&s->field, __ATOMIC_SEQ_CST)

struct vgpu_totals vgpu_totals(const struct vgpu_shared *shared, uint8_t entry) {
  struct vgpu_totals t = {0, 0};
  struct vgpu_process *me = vgpu_process_claimed();
  uint32_t slots = vgpu_high_water(shared);
  if (me != NULL && slots <= me->slot) slots = me->slot + 1;
  for (uint32_t k = 0; k < slots; k++) {
    const struct vgpu_usage_slot *s = &shared->usage->slots[k];
    bool own = me != NULL && me->slot == k;
    uint32_t state = SLOT(state);
    if (!own && (state == VGPU_SLOT_FREE || state == VGPU_SLOT_SUSPENDED)) continue;
    uint64_t bytes = sane(SLOT(bytes[entry]));
    if (own) {
      uint64_t mine = sane(atomic_load(&me->bytes[entry]));
      if (mine > bytes) bytes = mine;
    }
    t.physical += bytes + (uint64_t)SLOT(overhead_pages[entry]) * VGPU_PAGE_BYTES;
    t.managed += (uint64_t)SLOT(managed_pages[entry]) * VGPU_PAGE_BYTES;
  }
  return t;
}

static void add(const struct vgpu_shared *shared, struct vgpu_process *me, uint8_t entry, enum vgpu_charge kind,
                int64_t bytes) {
  struct vgpu_usage_slot *s = vgpu_slot(shared, me);
  uint32_t n = (uint32_t)pages((uint64_t)(bytes < 0 ? -bytes : bytes));
  switch (kind) {
    case VGPU_CHARGE_NONE: return;
    case VGPU_CHARGE_DEVICE:
      atomic_fetch_add(&me->bytes[entry], bytes);
      __atomic_fetch_add(&s->bytes[entry], bytes, __ATOMIC_SEQ_CST);
      return;
    case VGPU_CHARGE_MANAGED: __atomic_fetch_add(&s->managed_pages[entry], bytes < 0 ? 0u - n : n, __ATOMIC_SEQ_CST); return;
    case VGPU_CHARGE_OVERHEAD: __atomic_fetch_add(&s->overhead_pages[entry], bytes < 0 ? 0u - n : n, __ATOMIC_SEQ_CST); return;
  }
}

static void note_peak(const struct vgpu_place *place, uint64_t sum) {
  int64_t *peak = &place->shared->usage->devices[place->entry].peak, seen = __atomic_load_n(peak, __ATOMIC_RELAXED);
  for (int i = 0; i < 64 && seen < (int64_t)sum; i++) {
    if (__atomic_compare_exchange_n(peak, &seen, (int64_t)sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  }
}

static bool fits(const struct vgpu_place *place, enum vgpu_charge kind) {
  struct vgpu_totals t = vgpu_totals(place->shared, place->entry);
  bool ok = true;
  if ((place->limit.flags & VGPU_LIMIT_MEMORY) != 0) {
    ok = t.physical + t.managed <= place->limit.memory;
    if (kind != VGPU_CHARGE_MANAGED) ok = ok && t.physical <= place->limit.physical;
  }
  if (ok) note_peak(place, t.physical + t.managed);
  return ok;
}

static bool once(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes) {
  add(place->shared, place->me, place->entry, kind, (int64_t)bytes);
  if (fits(place, kind)) return true;
  add(place->shared, place->me, place->entry, kind, -(int64_t)bytes);
  return false;
}

/* ---- the slow path */

static int open_lock_file(const struct vgpu_shared *shared) {
  if (shared->own != NULL) return -1; /* nobody to wait for */
  char path[256] = "";
  text_append(path, sizeof path, shared->directory);
  text_append(path, sizeof path, "/" VGPU_USAGE_LOCK_FILE);
  return sys_openat(AT_FDCWD, path, O_RDWR);
}

/* Those who were refused try again one after the other, so that of two that were too much together one gets through. */
static bool retry(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes) {
  (void)vgpu_reap(place->shared);
  vgpu_pools_shrink(place);
  int fd = open_lock_file(place->shared);
  for (int waited = 0; fd >= 0 && waited < LOCK_WAIT_NS; waited += LOCK_STEP_NS) {
    if (sys_lock_byte(fd, VGPU_LOCK_DEVICE_BASE + place->entry, true)) break;
    sys_sleep_ns(LOCK_STEP_NS);
  }
  bool ok = once(place, kind, bytes);
  if (fd >= 0) (void)sys_close(fd);
  return ok;
}

bool vgpu_charge(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes) {
  vgpu_overhead_learn(place);
  if (bytes >= ABSURD) return false;
  return once(place, kind, bytes) || retry(place, kind, bytes);
}

void vgpu_charge_anyway(const struct vgpu_place *place, enum vgpu_charge kind, uint64_t bytes) {
  add(place->shared, place->me, place->entry, kind, (int64_t)(bytes < ABSURD ? bytes : ABSURD));
}

void vgpu_uncharge(const struct vgpu_shared *shared, struct vgpu_process *me, uint8_t entry, enum vgpu_charge kind,
                   uint64_t bytes) {
  add(shared, me, entry, kind, -(int64_t)(bytes < ABSURD ? bytes : ABSURD));
}

void vgpu_item_gone(const struct vgpu_item *item) {
  struct vgpu_process *me = vgpu_process_claimed();
  if (me != NULL && item->entry < VGPU_MAX_DEVICES) vgpu_uncharge(vgpu_shared(), me, item->entry, item->charge, item->size);
}

CUresult vgpu_refuse(const struct vgpu_place *place, uint64_t bytes) {
  struct vgpu_usage_device *d = &place->shared->usage->devices[place->entry];
  __atomic_store_n(&d->oom_bytes, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&d->oom_count, 1, __ATOMIC_RELEASE);
  vgpu_log(VGPU_LOG_INFO, "memory limit reached, refused bytes", NULL, (int64_t)bytes);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- what contexts really take */

/* The agent's figure is of the container's processes as they were: after a change here it must be measured anew. */
struct measured {
  atomic_uint sample; /* the last that was looked at */
  atomic_uint from;   /* the first that can know of all contexts of this process */
};
static struct measured measured[VGPU_MAX_DEVICES];

void vgpu_overhead_changed(const struct vgpu_place *place) {
  const struct vgpu_load *load = place->shared->load;
  if (load == NULL) return;
  uint32_t sample = __atomic_load_n(&load->devices[place->entry].context_sample, __ATOMIC_ACQUIRE);
  atomic_store(&measured[place->entry].from, sample + VGPU_CONTEXT_SAMPLES);
}

static bool read_load(const struct vgpu_load_device *l, uint32_t *sample, uint64_t *bytes) {
  for (int i = 0; i < VGPU_SEQLOCK_TRIES; i++) {
    uint32_t seq = __atomic_load_n(&l->seq, __ATOMIC_ACQUIRE);
    *sample = __atomic_load_n(&l->context_sample, __ATOMIC_ACQUIRE);
    *bytes = __atomic_load_n(&l->context_bytes, __ATOMIC_ACQUIRE);
    if ((seq & 1) == 0 && __atomic_load_n(&l->seq, __ATOMIC_RELAXED) == seq) return true;
  }
  return false;
}

void vgpu_overhead_learn(const struct vgpu_place *place) {
  const struct vgpu_load *load = place->shared->load;
  struct measured *m = &measured[place->entry];
  if (load == NULL || atomic_load(&vgpu_contexts[place->entry]) == 0) return;
  const struct vgpu_load_device *l = &load->devices[place->entry];
  uint32_t known = atomic_load_explicit(&m->sample, memory_order_relaxed), sample;
  uint64_t bytes;
  if (__atomic_load_n(&l->context_sample, __ATOMIC_RELAXED) == known) return; /* nearly always */
  if (!read_load(l, &sample, &bytes) || sample == known) return;
  if (!atomic_compare_exchange_strong(&m->sample, &known, sample)) return;
  if ((int32_t)(sample - atomic_load(&m->from)) < 0 || bytes >= ABSURD) return;
  uint32_t *own = &vgpu_slot(place->shared, place->me)->overhead_pages[place->entry];
  __atomic_store_n(own, (uint32_t)pages(bytes < 1 ? 1 : bytes), __ATOMIC_SEQ_CST); /* 0 would say: no context */
}

/* ---- pinned host memory */

bool vgpu_charge_pinned(const struct vgpu_place *place, uint64_t bytes) {
  if (bytes >= ABSURD) return false;
  uint64_t *own = &vgpu_slot(place->shared, place->me)->host_pinned_bytes, sum = 0;
  __atomic_fetch_add(own, bytes, __ATOMIC_SEQ_CST);
  uint32_t slots = vgpu_high_water(place->shared);
  for (uint32_t k = 0; k < slots; k++) {
    const struct vgpu_usage_slot *s = &place->shared->usage->slots[k];
    uint64_t held = SLOT(host_pinned_bytes);
    if (SLOT(state) != VGPU_SLOT_FREE) sum += held < ABSURD ? held : ABSURD;
  }
  if ((place->limit.flags & VGPU_LIMIT_PINNED_HOST) == 0 || sum <= place->limit.pinned) return true;
  vgpu_uncharge_pinned(place, bytes);
  return false;
}

void vgpu_uncharge_pinned(const struct vgpu_place *place, uint64_t bytes) {
  __atomic_fetch_sub(&vgpu_slot(place->shared, place->me)->host_pinned_bytes, bytes, __ATOMIC_SEQ_CST);
}
