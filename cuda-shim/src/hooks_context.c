/*
 * Contexts cost memory before anything is allocated in them: charged before they are made, by a guess that the agent's
 * measurement replaces (ledger.c). A context that goes takes all that was allocated in it along.
 */
#include "hooks.h"
#include "ledger.h"
#include "pace.h"
#include "pool.h"

static uint64_t guess(const struct vgpu_place *p) {
  return (uint64_t)(p->limit.context_mib != 0 ? p->limit.context_mib : VGPU_DEFAULT_CONTEXT_MIB) << 20;
}

static void overhead_of(const struct vgpu_place *p, unsigned int contexts) {
  uint32_t *pages = &vgpu_slot(p->shared, p->me)->overhead_pages[p->entry];
  uint32_t now = __atomic_load_n(pages, __ATOMIC_SEQ_CST), each = (uint32_t)(guess(p) / VGPU_PAGE_BYTES);
  /* the last one takes all with it; of several, one takes its guess, as far as it is still in the figure */
  __atomic_store_n(pages, contexts == 0 ? 0 : now > each ? now - each : now, __ATOMIC_SEQ_CST);
}

static bool begin(const struct vgpu_place *p) {
  if (!vgpu_charge(p, VGPU_CHARGE_OVERHEAD, guess(p))) return false;
  vgpu_overhead_changed(p);
  atomic_fetch_add(&vgpu_contexts[p->entry], 1);
  return true;
}

static void ended(const struct vgpu_place *p) {
  unsigned int n = atomic_load(&vgpu_contexts[p->entry]);
  while (n > 0 && !atomic_compare_exchange_weak(&vgpu_contexts[p->entry], &n, n - 1)) continue;
  overhead_of(p, n > 0 ? n - 1 : 0);
  vgpu_overhead_changed(p);
}

static void gone_with(CUcontext ctx) {
  struct vgpu_item item;
  while (vgpu_table_take_owned((uint64_t)(uintptr_t)ctx, &item)) vgpu_item_gone(&item);
}

/* ---- contexts that the program makes */

#define CREATE(name, params, args)                                                                           \
  CUresult vgpu_on_##name params {                                                                           \
    const struct vgpu_cuda *cuda = vgpu_driver();                                                            \
    struct vgpu_place p;                                                                                     \
    if (ctx == NULL || !vgpu_place_device(cuda, device, &p)) return cuda->name args;                         \
    if (!begin(&p)) return vgpu_refuse(&p, guess(&p));                                                       \
    CUresult result = cuda->name args;                                                                       \
    if (result != CUDA_SUCCESS) {                                                                            \
      ended(&p);                                                                                             \
      return result;                                                                                         \
    }                                                                                                        \
    vgpu_overhead_changed(&p); /* begin() did, but the driver takes its time */                              \
    struct vgpu_item item = {                                                                                \
        .key = (uint64_t)(uintptr_t)*ctx, .size = (uint64_t)device, .what = VGPU_CONTEXT, .entry = p.entry}; \
    (void)vgpu_table_put(&item);                                                                             \
    return result;                                                                                           \
  }

CREATE(cuCtxCreate, (CUcontext * ctx, unsigned int flags, CUdevice device), (ctx, flags, device))
CREATE(cuCtxCreate_v2, (CUcontext * ctx, unsigned int flags, CUdevice device), (ctx, flags, device))
CREATE(cuCtxCreate_v3, (CUcontext * ctx, CUexecAffinityParam *affinity, int count, unsigned int flags, CUdevice device),
       (ctx, affinity, count, flags, device))
CREATE(cuCtxCreate_v4, (CUcontext * ctx, CUctxCreateParams *params, unsigned int flags, CUdevice device),
       (ctx, params, flags, device))

static CUresult destroy(CUresult (*call)(CUcontext), CUcontext ctx) {
  struct vgpu_item item;
  struct vgpu_place p;
  bool known = vgpu_table_take(VGPU_CONTEXT, (uint64_t)(uintptr_t)ctx, &item);
  vgpu_pace_context_gone(ctx);
  CUresult result = call(ctx);
  if (result == CUDA_SUCCESS) {
    gone_with(ctx);
    if (known && vgpu_place_device(vgpu_driver(), (CUdevice)item.size, &p)) ended(&p);
  } else if (known) {
    (void)vgpu_table_put(&item);
  }
  return result;
}

CUresult vgpu_on_cuCtxDestroy(CUcontext ctx) { return destroy(vgpu_driver()->cuCtxDestroy, ctx); }
CUresult vgpu_on_cuCtxDestroy_v2(CUcontext ctx) { return destroy(vgpu_driver()->cuCtxDestroy_v2, ctx); }

/* ---- the primary context, which the driver counts by itself */

struct primary {
  atomic_uint charged; /* 1: it is in the overhead */
  _Atomic(CUcontext) ctx;
};
static struct primary primaries[VGPU_MAX_DEVICES];

static bool is_active(const struct vgpu_cuda *cuda, CUdevice device) {
  unsigned int flags;
  int active = 0;
  return cuda->cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active != 0;
}

/* It may have been made before we were asked, or end by another thread's call: whoever changes the word, charges. */
static void primary_ended(const struct vgpu_place *p) {
  struct primary *primary = &primaries[p->entry];
  if (atomic_exchange(&primary->charged, 0) == 0) return;
  CUcontext ctx = atomic_exchange(&primary->ctx, NULL);
  if (ctx != NULL) gone_with(ctx);
  ended(p);
}

CUresult vgpu_on_cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (ctx == NULL || !vgpu_place_device(cuda, device, &p)) return cuda->cuDevicePrimaryCtxRetain(ctx, device);
  struct primary *primary = &primaries[p.entry];
  bool first = atomic_exchange(&primary->charged, 1) == 0;
  if (first && !begin(&p)) {
    atomic_store(&primary->charged, 0);
    return vgpu_refuse(&p, guess(&p));
  }
  CUresult result = cuda->cuDevicePrimaryCtxRetain(ctx, device);
  if (result == CUDA_SUCCESS) {
    atomic_store(&primary->ctx, *ctx);
    if (first) vgpu_overhead_changed(&p);
  } else if (first) {
    primary_ended(&p);
  }
  return result;
}

/* It may go with the call: events are asked about before, never after. */
static void primary_may_go(CUdevice device) {
  uint8_t entry = vgpu_entry_of_device(device);
  CUcontext ctx = entry != VGPU_NO_ENTRY ? atomic_load(&primaries[entry].ctx) : NULL;
  if (ctx != NULL) vgpu_pace_context_gone(ctx);
}

static CUresult release(CUresult (*call)(CUdevice), CUdevice device) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  primary_may_go(device);
  CUresult result = call(device);
  if (result == CUDA_SUCCESS && vgpu_place_device(cuda, device, &p) && !is_active(cuda, device)) primary_ended(&p);
  return result;
}

/* A reset empties the context, but those who retained it still hold it. */
static CUresult reset(CUresult (*call)(CUdevice), CUdevice device) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  primary_may_go(device);
  CUresult result = call(device);
  if (result == CUDA_SUCCESS && vgpu_place_device(cuda, device, &p)) primary_ended(&p);
  return result;
}

CUresult vgpu_on_cuDevicePrimaryCtxRelease(CUdevice device) {
  return release(vgpu_driver()->cuDevicePrimaryCtxRelease, device);
}
CUresult vgpu_on_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release(vgpu_driver()->cuDevicePrimaryCtxRelease_v2, device);
}
CUresult vgpu_on_cuDevicePrimaryCtxReset(CUdevice device) { return reset(vgpu_driver()->cuDevicePrimaryCtxReset, device); }
CUresult vgpu_on_cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return reset(vgpu_driver()->cuDevicePrimaryCtxReset_v2, device);
}

/* ---- checkpoints: the device memory of a suspended process is in the host's */

static struct vgpu_usage_slot *slot_of(const struct vgpu_shared *shared, int pid) {
  uint32_t slots = shared->mode == VGPU_ACTIVE ? vgpu_high_water(shared) : 0;
  for (uint32_t k = 0; k < slots; k++) {
    if (__atomic_load_n(&shared->usage->slots[k].pid, __ATOMIC_SEQ_CST) == pid) return &shared->usage->slots[k];
  }
  return NULL;
}

static bool move(struct vgpu_usage_slot *slot, uint32_t from, uint32_t to) {
  return slot != NULL && __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

CUresult vgpu_on_cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *args) {
  CUresult result = vgpu_driver()->cuCheckpointProcessCheckpoint(pid, args);
  if (result == CUDA_SUCCESS) (void)move(slot_of(vgpu_shared(), pid), VGPU_SLOT_LIVE, VGPU_SLOT_SUSPENDED);
  return result;
}

CUresult vgpu_on_cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *args) {
  const struct vgpu_shared *shared = vgpu_shared();
  struct vgpu_usage_slot *slot = slot_of(shared, pid);
  bool counted = move(slot, VGPU_SLOT_SUSPENDED, VGPU_SLOT_LIVE); /* published before it is compared, as everything */
  for (uint32_t d = 0; counted && d < shared->devices; d++) {
    struct vgpu_limit limit;
    struct vgpu_totals t = vgpu_totals(shared, (uint8_t)d);
    if (!vgpu_limit_read(shared, d, &limit) || (limit.flags & VGPU_LIMIT_MEMORY) == 0 || t.physical + t.managed <= limit.memory)
      continue;
    (void)move(slot, VGPU_SLOT_LIVE, VGPU_SLOT_SUSPENDED);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  CUresult result = vgpu_driver()->cuCheckpointProcessRestore(pid, args);
  if (counted && result != CUDA_SUCCESS) (void)move(slot, VGPU_SLOT_LIVE, VGPU_SLOT_SUSPENDED);
  return result;
}
