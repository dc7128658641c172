/*
 * Growth of a pool is charged before it happens and without asking the driver each time:
 *
 *   free    a lower bound of what the pool can hand out without growing; allocations take from it, frees add nothing until
 *           the pool is read again
 *   charge  what was reserved when the pool was read last
 *
 * An allocation that `free` covers costs one atomic. Another reads the pool; if that does not cover it either, the pool
 * will grow, and its next step is charged in advance. After the call the pool is read and the truth replaces the guess.
 */
#include "pool.h"

#include "ledger.h"
#include "lock.h"
#include "log.h"

enum { POOLS = 256, READ_TRIES = 8 };
#define BIG_STEP ((uint64_t)32 << 20)
#define SMALL_STEP ((uint64_t)2 << 20)

struct vgpu_pool {
  _Atomic(CUmemoryPool) handle;
  atomic_uint version;       /* of the last reading, so that an older one does not replace a newer */
  _Atomic int64_t free;      /* may be below 0 */
  _Atomic int64_t in_flight; /* taken from free, driver not back yet */
  _Atomic uint64_t charge;
  _Atomic uint64_t step; /* the pool grows in multiples of it */
  uint8_t entry;         /* VGPU_NO_ENTRY: not charged */
};

static struct vgpu_pool pools[POOLS];
static vgpu_lock adding; /* for entering a pool; reading needs none */
static _Atomic(struct vgpu_pool *) present[VGPU_MAX_DEVICES];
static _Atomic uint64_t graph_charge[VGPU_MAX_DEVICES];
atomic_uint vgpu_graphs_allocate;

static struct vgpu_pool *known(CUmemoryPool handle) {
  for (int i = 0; i < POOLS; i++) {
    if (atomic_load_explicit(&pools[i].handle, memory_order_acquire) == handle) return &pools[i];
  }
  return NULL;
}

static struct vgpu_pool *enter(CUmemoryPool handle, uint8_t entry) {
  struct vgpu_pool *p = known(handle);
  if (p != NULL || handle == NULL || !lock_take(&adding)) return p;
  p = known(handle);
  for (int i = 0; i < POOLS && p == NULL; i++) {
    if (atomic_load(&pools[i].handle) != NULL) continue;
    p = &pools[i];
    p->entry = entry;
    atomic_store(&p->free, 0);
    atomic_store(&p->in_flight, 0);
    atomic_store(&p->charge, 0);
    atomic_store(&p->step, BIG_STEP);
    atomic_store_explicit(&p->handle, handle, memory_order_release);
  }
  lock_give(&adding);
  if (p == NULL) vgpu_log(VGPU_LOG_WARNING, "more pools than can be charged", NULL, POOLS);
  return p;
}

void vgpu_pool_foreign(CUmemoryPool pool) { (void)enter(pool, VGPU_NO_ENTRY); }

void vgpu_pool_made(CUmemoryPool pool, CUmemLocation location) {
  uint8_t entry = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? vgpu_entry_of_device(location.id) : VGPU_NO_ENTRY;
  (void)enter(pool, entry);
}

static void drop_charge(struct vgpu_pool *p) {
  struct vgpu_process *me = vgpu_process_claimed();
  uint64_t charge = atomic_exchange(&p->charge, 0);
  if (me != NULL && p->entry != VGPU_NO_ENTRY) vgpu_uncharge(vgpu_shared(), me, p->entry, VGPU_CHARGE_DEVICE, charge);
}

/* ---- pools without a name */

static _Atomic uint64_t orphans[VGPU_MAX_DEVICES];
static atomic_uint any_orphans;

static void adopt(uint8_t entry, uint64_t size) {
  struct vgpu_process *me = vgpu_process_claimed();
  uint64_t now = atomic_load(&orphans[entry]), taken = 0;
  do {
    taken = size < now ? size : now;
  } while (!atomic_compare_exchange_weak(&orphans[entry], &now, now - taken));
  if (me != NULL) vgpu_uncharge(vgpu_shared(), me, entry, VGPU_CHARGE_DEVICE, taken);
}

uint64_t vgpu_pool_gone(const struct vgpu_cuda *cuda, CUmemoryPool pool) {
  struct vgpu_pool *p = pool == NULL ? NULL : known(pool);
  if (p == NULL) return 0;
  uint64_t out = 0;
  struct vgpu_process *me = vgpu_process_claimed();
  if (p->entry != VGPU_NO_ENTRY && cuda->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &out) == CUDA_SUCCESS &&
      out != 0 && me != NULL) {
    struct vgpu_place place = {.cuda = cuda, .shared = vgpu_shared(), .me = me, .entry = p->entry};
    vgpu_charge_anyway(&place, VGPU_CHARGE_DEVICE, out);
    atomic_fetch_add(&orphans[p->entry], out);
    atomic_store(&any_orphans, 1);
  }
  drop_charge(p);
  for (int i = 0; i < VGPU_MAX_DEVICES; i++) {
    struct vgpu_pool *expected = p;
    (void)atomic_compare_exchange_strong(&present[i], &expected, NULL);
  }
  atomic_store_explicit(&p->handle, NULL, memory_order_release);
  return out;
}

void vgpu_pool_kept(const struct vgpu_cuda *cuda, CUmemoryPool pool, uint64_t out) {
  struct vgpu_place place;
  if (!vgpu_place_current(cuda, &place)) return;
  (void)enter(pool, place.entry);
  vgpu_pool_read(cuda, pool);
  adopt(place.entry, out);
}

uint64_t vgpu_pool_orphan(const struct vgpu_cuda *cuda, CUdeviceptr pointer) {
  CUdeviceptr base;
  size_t size = 0;
  if (atomic_load_explicit(&any_orphans, memory_order_relaxed) == 0) return 0;
  return cuda->cuMemGetAddressRange_v2(&base, &size, pointer) == CUDA_SUCCESS ? size : 0;
}

void vgpu_pool_orphan_freed(const struct vgpu_cuda *cuda, uint64_t size) {
  struct vgpu_place place;
  if (size != 0 && vgpu_place_current(cuda, &place)) adopt(place.entry, vgpu_round(size, 512));
}

void vgpu_pool_switched(CUdevice device) {
  uint8_t entry = vgpu_entry_of_device(device);
  if (entry != VGPU_NO_ENTRY) atomic_store(&present[entry], NULL);
}

/* ---- reading */

static void settle(const struct vgpu_place *place, uint8_t entry, _Atomic uint64_t *charge, uint64_t now) {
  uint64_t before = atomic_exchange(charge, now);
  if (now > before) {
    struct vgpu_place there = *place;
    there.entry = entry;
    vgpu_charge_anyway(&there, VGPU_CHARGE_DEVICE, now - before);
  } else if (now < before) {
    vgpu_uncharge(place->shared, place->me, entry, VGPU_CHARGE_DEVICE, before - now);
  }
}

/* The truth about a pool; false if the driver does not tell it. */
static bool read_pool(const struct vgpu_place *place, struct vgpu_pool *p) {
  CUmemoryPool handle = atomic_load(&p->handle);
  for (int i = 0; i < READ_TRIES && handle != NULL; i++) {
    unsigned int version = atomic_load(&p->version);
    uint64_t reserved = 0, used = 0;
    if (place->cuda->cuMemPoolGetAttribute(handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) != CUDA_SUCCESS ||
        place->cuda->cuMemPoolGetAttribute(handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS) {
      return false;
    }
    if (!atomic_compare_exchange_strong(&p->version, &version, version + 1)) continue; /* somebody read a newer state */
    settle(place, p->entry, &p->charge, reserved);
    atomic_store(&p->free, (int64_t)(reserved - used) - atomic_load(&p->in_flight));
    return true;
  }
  return handle != NULL;
}

void vgpu_pool_read(const struct vgpu_cuda *cuda, CUmemoryPool pool) {
  struct vgpu_pool *p = pool == NULL ? NULL : known(pool);
  struct vgpu_place place;
  if (p == NULL || p->entry == VGPU_NO_ENTRY) return;
  if (vgpu_place_device(cuda, vgpu_device_of_entry(p->entry), &place)) (void)read_pool(&place, p);
}

void vgpu_pools_read(const struct vgpu_place *place) {
  for (int i = 0; i < POOLS; i++) {
    if (atomic_load(&pools[i].handle) != NULL && pools[i].entry == place->entry) (void)read_pool(place, &pools[i]);
  }
  if (atomic_load_explicit(&vgpu_graphs_allocate, memory_order_relaxed) != 0) vgpu_graph_memory_read(place);
}

void vgpu_pools_shrink(const struct vgpu_place *place) {
  for (int i = 0; i < POOLS; i++) {
    CUmemoryPool handle = atomic_load(&pools[i].handle);
    if (handle == NULL || pools[i].entry != place->entry) continue;
    (void)place->cuda->cuMemPoolTrimTo(handle, 0);
    (void)read_pool(place, &pools[i]);
  }
  if (atomic_load_explicit(&vgpu_graphs_allocate, memory_order_relaxed) != 0) vgpu_graph_memory_read(place);
}

/* ---- allocating */

static bool take(struct vgpu_pool *p, uint64_t need) {
  int64_t now = atomic_load_explicit(&p->free, memory_order_relaxed);
  while (now >= (int64_t)need) {
    if (atomic_compare_exchange_weak(&p->free, &now, now - (int64_t)need)) return true;
  }
  return false;
}

static struct vgpu_pool *pool_for(const struct vgpu_place *place, CUmemoryPool handle) {
  if (handle != NULL) {
    struct vgpu_pool *p = known(handle);
    return p != NULL ? p : enter(handle, place->entry); /* made where we did not see it: of the present device */
  }
  struct vgpu_pool *p = atomic_load_explicit(&present[place->entry], memory_order_acquire);
  if (p != NULL) return p;
  if (place->cuda->cuDeviceGetMemPool(&handle, place->device) != CUDA_SUCCESS) return NULL;
  p = enter(handle, place->entry);
  atomic_store(&present[place->entry], p);
  return p;
}

bool vgpu_pool_before(const struct vgpu_place *place, CUmemoryPool pool, uint64_t size, struct vgpu_pool_use *use) {
  *use = (struct vgpu_pool_use){.pool = pool_for(place, pool), .need = vgpu_round(size, 512)};
  struct vgpu_pool *p = use->pool;
  if (p == NULL || p->entry == VGPU_NO_ENTRY) {
    use->pool = NULL;
    return true;
  }
  if (size > (uint64_t)1 << 47) return false;
  atomic_fetch_add(&p->in_flight, (int64_t)use->need);
  if (take(p, use->need) || (read_pool(place, p) && take(p, use->need))) return true;
  struct vgpu_place there = *place;
  there.entry = p->entry;
  use->reserved = vgpu_round(use->need, atomic_load(&p->step));
  if (vgpu_charge(&there, VGPU_CHARGE_DEVICE, use->reserved)) return true;
  atomic_fetch_sub(&p->in_flight, (int64_t)use->need);
  /* the slow path has given back what lay idle: perhaps it covers this one now */
  use->reserved = 0;
  return false;
}

void vgpu_pool_after(const struct vgpu_place *place, struct vgpu_pool_use *use, bool success) {
  struct vgpu_pool *p = use->pool;
  if (p == NULL) return;
  atomic_fetch_sub(&p->in_flight, (int64_t)use->need);
  if (use->reserved == 0) {
    if (!success) atomic_fetch_add(&p->free, (int64_t)use->need);
    return;
  }
  uint64_t before = atomic_load(&p->charge);
  bool told = read_pool(place, p);
  uint64_t now = atomic_load(&p->charge);
  /* a growth that is no multiple of the big step: this driver grows in smaller ones */
  if (told && now > before && (now - before) % BIG_STEP != 0) atomic_store(&p->step, SMALL_STEP);
  if (!told && success) return; /* the reservation stays as the charge */
  vgpu_uncharge(place->shared, place->me, p->entry, VGPU_CHARGE_DEVICE, use->reserved);
}

/* ---- graphs */

void vgpu_graph_memory_read(const struct vgpu_place *place) {
  uint64_t reserved = 0;
  if (place->cuda->cuDeviceGetGraphMemAttribute(place->device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved) ==
      CUDA_SUCCESS) {
    settle(place, place->entry, &graph_charge[place->entry], reserved);
  }
}

void vgpu_pools_forget(void) {
  for (int i = 0; i < POOLS; i++) atomic_store(&pools[i].handle, NULL);
  for (int i = 0; i < VGPU_MAX_DEVICES; i++) {
    atomic_store(&present[i], NULL);
    atomic_store(&graph_charge[i], 0);
    atomic_store(&orphans[i], 0);
  }
  atomic_store(&vgpu_graphs_allocate, 0);
  atomic_store(&any_orphans, 0);
}
