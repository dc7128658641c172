/*
 * Memory in the order of a stream. A pool takes memory of the card in steps of 32 MiB and hands out of it; what is freed
 * goes back to the pool at once and to the card at the next synchronisation, but for what the threshold keeps.
 */
#include "driver.h"

enum { MAGIC_POOL = 0x504F4F4C, POOLS = 256 };
#define STEP (UINT64_C(32) << 20)

struct CUmemPoolHandle_st {
  uint32_t magic;
  CUdevice device;
  bool on_host;
  uint64_t threshold, most;
  uint64_t reserved, reserved_high, used, used_high;
  uint64_t reuse[3];
  struct CUmemPoolHandle_st *next; /* destroyed ones */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmemPoolHandle_st *pools[POOLS];
static CUmemoryPool own[GPU_DEVICES], chosen[GPU_DEVICES]; /* default, and current */
static struct CUmemPoolHandle_st *gone;                    /* kept, so that what is still allocated from one can see it */
static _Atomic int unsettled;                              /* something was freed since the last settling */

/* Graph memory is a pool of the driver's own, with another way to ask. */
static struct CUmemPoolHandle_st graph_pools[GPU_DEVICES];

static uint64_t steps(uint64_t bytes) { return (bytes + STEP - 1) / STEP * STEP; }

static CUmemoryPool new_pool(CUdevice d, uint64_t most, bool on_host) {
  int i = 0;
  while (i < POOLS && pools[i] != NULL) i++;
  if (i == POOLS) return NULL;
  struct CUmemPoolHandle_st *p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  *p = (struct CUmemPoolHandle_st){.magic = MAGIC_POOL, .device = d, .on_host = on_host, .most = most, .reuse = {1, 1, 1}};
  pools[i] = p;
  return p;
}

static bool valid(const struct CUmemPoolHandle_st *p) { return p != NULL && p->magic == MAGIC_POOL; }

/* Under the lock. */
static CUmemoryPool current(CUdevice d) {
  if (own[d] == NULL) own[d] = new_pool(d, 0, false);
  if (chosen[d] == NULL) chosen[d] = own[d];
  return chosen[d];
}

/* ---- what a pool holds, under the lock --------------------------------------------------------------------------------- */

static bool grow(struct CUmemPoolHandle_st *p, uint64_t bytes) {
  if (p->most != 0 && p->used + bytes > p->most) return false;
  if (p->used + bytes > p->reserved) {
    uint64_t more = steps(p->used + bytes - p->reserved);
    if (!p->on_host && !device_take(p->device, more)) return false;
    p->reserved += more;
    if (p->reserved > p->reserved_high) p->reserved_high = p->reserved;
  }
  p->used += bytes;
  if (p->used > p->used_high) p->used_high = p->used;
  return true;
}

static void trim(struct CUmemPoolHandle_st *p, uint64_t keep) {
  uint64_t least = steps(p->used > keep ? p->used : keep);
  if (p->reserved <= least) return;
  if (!p->on_host) device_give(p->device, p->reserved - least);
  p->reserved = least;
}

void pools_settle(void) {
  if (atomic_load_explicit(&unsettled, memory_order_relaxed) == 0) return;
  (void)pthread_mutex_lock(&lock);
  unsettled = 0;
  for (int i = 0; i < POOLS; i++) {
    if (pools[i] != NULL && pools[i]->threshold < pools[i]->reserved) trim(pools[i], pools[i]->threshold);
  }
  (void)pthread_mutex_unlock(&lock);
}

void pool_free(const struct memory *m) {
  memory_unmap(m->at, m->mapped);
  (void)pthread_mutex_lock(&lock);
  if (valid(m->pool)) m->pool->used -= m->charged;
  unsettled = 1;
  (void)pthread_mutex_unlock(&lock);
}

static CUresult take(CUmemoryPool pool, CUdevice d, uint64_t bytes, CUmemoryPool *used) {
  (void)pthread_mutex_lock(&lock);
  if (pool == NULL) pool = current(d);
  CUresult result = !valid(pool) ? CUDA_ERROR_INVALID_HANDLE : grow(pool, bytes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  (void)pthread_mutex_unlock(&lock);
  *used = pool;
  return result;
}

CUresult pool_alloc(CUmemoryPool pool, CUdeviceptr *dptr, size_t size, struct CUstream_st *s) {
  if (dptr == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > (UINT64_C(1) << 46)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  struct memory m = {
      .bytes = size, .charged = (size + 511) / 512 * 512, .kind = MEMORY_POOL, .device = s->ctx->device, .ctx = s->ctx};
  CUresult result = take(pool, m.device, m.charged, &m.pool);
  if (result != CUDA_SUCCESS) return result;
  m.device = m.pool->device;
  m.mapped = (size + 4095) / 4096 * 4096;
  m.at = memory_map(m.mapped);
  if (m.at != 0 && memory_insert(&m)) {
    *dptr = m.at;
    return CUDA_SUCCESS;
  }
  pool_free(&m);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- graphs' memory ---------------------------------------------------------------------------------------------------- */

CUresult graph_memory_take(CUdevice d, uint64_t bytes) {
  (void)pthread_mutex_lock(&lock);
  graph_pools[d].device = d;
  bool ok = grow(&graph_pools[d], bytes);
  (void)pthread_mutex_unlock(&lock);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void graph_memory_give(CUdevice d, uint64_t bytes) {
  (void)pthread_mutex_lock(&lock);
  graph_pools[d].used -= bytes < graph_pools[d].used ? bytes : graph_pools[d].used;
  (void)pthread_mutex_unlock(&lock);
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  ENTER;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  (void)pthread_mutex_lock(&lock);
  graph_pools[device].device = device;
  trim(&graph_pools[device], 0);
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

/* The four figures of a pool, in the order of the graph attributes. */
static uint64_t *figure(struct CUmemPoolHandle_st *p, int which) {
  uint64_t *all[] = {&p->used, &p->used_high, &p->reserved, &p->reserved_high};
  return all[which];
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value) {
  ENTER;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (value == NULL || (int)which < 0 || (int)which > 3) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  *(uint64_t *)value = *figure(&graph_pools[device], (int)which);
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value);
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value) {
  ENTER;
  bool high = which == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || which == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (value == NULL || !high || *(uint64_t *)value != 0) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  *figure(&graph_pools[device], (int)which) = *figure(&graph_pools[device], (int)which - 1);
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

/* ---- pools ------------------------------------------------------------------------------------------------------------- */

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
  ENTER;
  if (pool == NULL || props == NULL || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  bool device = props->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (device && !valid_device(props->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  if (!device && props->location.type != CU_MEM_LOCATION_TYPE_HOST && props->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)pthread_mutex_lock(&lock);
  *pool = new_pool(device ? props->location.id : 0, props->maxSize, !device);
  (void)pthread_mutex_unlock(&lock);
  return *pool == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Kept while something of it is in use; here nobody can ask a destroyed pool, so it goes at once. */
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER;
  if (!valid(pool) || pool == own[pool->device]) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  if (!pool->on_host) device_give(pool->device, pool->reserved);
  pool->magic = MAGIC_GONE;
  pool->next = gone;
  gone = pool;
  for (int i = 0; i < POOLS; i++) {
    if (pools[i] == pool) pools[i] = NULL;
  }
  if (chosen[pool->device] == pool) chosen[pool->device] = own[pool->device];
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  ENTER;
  if (!valid(pool)) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  trim(pool, keep);
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
  ENTER;
  CUresult result = CUDA_SUCCESS;
  if (!valid(pool) || value == NULL) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  if ((int)which >= CU_MEMPOOL_ATTR_REUSE_FIRST && (int)which <= CU_MEMPOOL_ATTR_REUSE_LAST) {
    pool->reuse[(int)which - 1] = (uint64_t) * (int *)value;
  } else if (which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    pool->threshold = *(uint64_t *)value;
    unsettled = 1;
  } else if (which == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && *(uint64_t *)value == 0) {
    pool->reserved_high = pool->reserved;
  } else if (which == CU_MEMPOOL_ATTR_USED_MEM_HIGH && *(uint64_t *)value == 0) {
    pool->used_high = pool->used;
  } else {
    result = CUDA_ERROR_INVALID_VALUE;
  }
  (void)pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
  ENTER;
  CUresult result = CUDA_SUCCESS;
  if (!valid(pool) || value == NULL) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  switch ((int)which) {
    case 1:
    case 2:
    case 3: *(int *)value = (int)pool->reuse[(int)which - 1]; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(uint64_t *)value = pool->reserved; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = pool->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = pool->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = pool->used_high; break;
    default: result = CUDA_ERROR_INVALID_VALUE;
  }
  (void)pthread_mutex_unlock(&lock);
  return result;
}

static CUresult get_pool(CUmemoryPool *pool, CUdevice d, bool the_default) {
  if (pool == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(d)) return CUDA_ERROR_INVALID_DEVICE;
  (void)pthread_mutex_lock(&lock);
  *pool = current(d);
  if (the_default) *pool = own[d];
  (void)pthread_mutex_unlock(&lock);
  return *pool == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  ENTER;
  return get_pool(pool, device, true);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  ENTER;
  return get_pool(pool, device, false);
}

static CUresult set_pool(CUdevice d, CUmemoryPool pool) {
  if (!valid_device(d)) return CUDA_ERROR_INVALID_DEVICE;
  if (!valid(pool) || pool->device != d) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  (void)current(d);
  chosen[d] = pool;
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  ENTER;
  return set_pool(device, pool);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
  ENTER;
  if (location == NULL || location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return set_pool(location->id, pool);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
  ENTER;
  return valid(pool) && (map != NULL || count == 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void pools_forget(CUdevice d) {
  (void)pthread_mutex_lock(&lock);
  for (int i = 0; i < POOLS; i++) {
    if (pools[i] == NULL || pools[i]->device != d || pools[i]->on_host) continue;
    device_give(d, pools[i]->reserved);
    pools[i]->reserved = pools[i]->used = 0;
  }
  device_give(d, graph_pools[d].reserved);
  graph_pools[d].reserved = graph_pools[d].used = 0;
  (void)pthread_mutex_unlock(&lock);
}
