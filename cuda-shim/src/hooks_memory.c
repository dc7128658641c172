/* Linear, pitched and managed memory. */
#include "hooks.h"
#include "ledger.h"
#include "pool.h"

/* Below it, memory is not worth moving to the host: small blocks are the hot ones. */
#define SUBSTITUTE_FROM ((uint64_t)32 << 20)

static uint64_t context_now(const struct vgpu_cuda *cuda) {
  CUcontext ctx = NULL;
  return cuda->cuCtxGetCurrent(&ctx) == CUDA_SUCCESS ? (uint64_t)(uintptr_t)ctx : 0;
}

static void remember(const struct vgpu_place *p, CUdeviceptr pointer, uint64_t charged, enum vgpu_charge kind) {
  struct vgpu_item item = {.key = pointer,
                           .size = charged,
                           .owner = context_now(p->cuda),
                           .what = VGPU_POINTER,
                           .charge = (uint8_t)kind,
                           .entry = p->entry};
  (void)vgpu_table_put(&item);
}

/* ---- oversubscription: what does not fit into the card's part becomes memory that the driver may move to the host */

static bool may_substitute(const struct vgpu_place *p, uint64_t size) {
  int works = 0;
  return (p->limit.flags & VGPU_LIMIT_OVERSUBSCRIBE) != 0 && size >= SUBSTITUTE_FROM &&
         p->cuda->cuDeviceGetAttribute(&works, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, p->device) == CUDA_SUCCESS &&
         works != 0;
}

static CUresult allocate_managed(const struct vgpu_place *p, CUdeviceptr *dptr, uint64_t size, unsigned int flags) {
  if (!vgpu_charge(p, VGPU_CHARGE_MANAGED, size)) return vgpu_refuse(p, size);
  CUresult result = p->cuda->cuMemAllocManaged(dptr, size, flags);
  if (result == CUDA_SUCCESS) {
    remember(p, *dptr, size, VGPU_CHARGE_MANAGED);
  } else {
    vgpu_uncharge(p->shared, p->me, p->entry, VGPU_CHARGE_MANAGED, size);
  }
  return result;
}

/* It stays on the card while there is room, and is evicted last. */
static CUresult substitute(const struct vgpu_place *p, CUdeviceptr *dptr, uint64_t size) {
  CUresult result = allocate_managed(p, dptr, size, CU_MEM_ATTACH_GLOBAL);
  if (result == CUDA_SUCCESS) (void)p->cuda->cuMemAdvise(*dptr, size, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, p->device);
  return result;
}

/* ---- allocation */

CUresult vgpu_on_cuMemAlloc_v2(CUdeviceptr *dptr, size_t size) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (dptr == NULL || size == 0 || !vgpu_place_current(cuda, &p)) return cuda->cuMemAlloc_v2(dptr, size);
  uint64_t charged = size > INT64_MAX ? size : vgpu_round(size, 512);
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, charged)) {
    return may_substitute(&p, size) ? substitute(&p, dptr, size) : vgpu_refuse(&p, size);
  }
  CUresult result = cuda->cuMemAlloc_v2(dptr, size);
  if (result == CUDA_SUCCESS) {
    remember(&p, *dptr, charged, VGPU_CHARGE_DEVICE);
    return result;
  }
  vgpu_uncharge(p.shared, p.me, p.entry, VGPU_CHARGE_DEVICE, charged);
  /* others have filled the card */
  return result == CUDA_ERROR_OUT_OF_MEMORY && may_substitute(&p, size) ? substitute(&p, dptr, size) : result;
}

CUresult vgpu_on_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned int element) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  uint64_t row = vgpu_round(width, 512), guess;
  if (dptr == NULL || pitch == NULL || width == 0 || height == 0 || !vgpu_place_current(cuda, &p)) {
    return cuda->cuMemAllocPitch_v2(dptr, pitch, width, height, element);
  }
  if (row < width || __builtin_mul_overflow(row, (uint64_t)height, &guess)) return vgpu_refuse(&p, UINT64_MAX);
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, guess)) {
    if (!may_substitute(&p, guess)) return vgpu_refuse(&p, guess);
    CUresult result = substitute(&p, dptr, guess);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
  }
  CUresult result = cuda->cuMemAllocPitch_v2(dptr, pitch, width, height, element);
  if (result != CUDA_SUCCESS) {
    vgpu_uncharge(p.shared, p.me, p.entry, VGPU_CHARGE_DEVICE, guess);
    return result;
  }
  /* the driver chose the pitch: that is what it took */
  uint64_t taken = (uint64_t)*pitch * height;
  if (taken > guess) vgpu_charge_anyway(&p, VGPU_CHARGE_DEVICE, taken - guess);
  if (taken < guess) vgpu_uncharge(p.shared, p.me, p.entry, VGPU_CHARGE_DEVICE, guess - taken);
  remember(&p, *dptr, taken, VGPU_CHARGE_DEVICE);
  return result;
}

CUresult vgpu_on_cuMemAllocManaged(CUdeviceptr *dptr, size_t size, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (dptr == NULL || size == 0 || !vgpu_place_current(cuda, &p)) return cuda->cuMemAllocManaged(dptr, size, flags);
  return allocate_managed(&p, dptr, size, flags);
}

/* ---- release: the entry goes before the call, since the address may be another thread's a moment after it */

CUresult vgpu_on_cuMemFree_v2(CUdeviceptr dptr) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_item item;
  bool known = dptr != 0 && vgpu_table_take(VGPU_POINTER, dptr, &item);
  uint64_t orphan = known ? 0 : vgpu_pool_orphan(cuda, dptr);
  CUresult result = cuda->cuMemFree_v2(dptr); /* also of what we never saw */
  if (!known) {
    if (result == CUDA_SUCCESS) vgpu_pool_orphan_freed(cuda, orphan);
    return result;
  }
  if (result == CUDA_SUCCESS) {
    vgpu_item_gone(&item);
  } else {
    (void)vgpu_table_put(&item);
  }
  return result;
}

/* Legal for memory of cuMemAlloc too. Memory of a pool returns to the pool, which stays charged. */
static CUresult free_async(CUresult (*free)(CUdeviceptr, CUstream), CUdeviceptr dptr, CUstream stream) {
  struct vgpu_item item;
  bool known = dptr != 0 && vgpu_table_take(VGPU_POINTER, dptr, &item);
  uint64_t orphan = known ? 0 : vgpu_pool_orphan(vgpu_driver(), dptr);
  CUresult result = free(dptr, stream);
  if (!known && result == CUDA_SUCCESS) vgpu_pool_orphan_freed(vgpu_driver(), orphan);
  if (known && result == CUDA_SUCCESS) vgpu_item_gone(&item);
  if (known && result != CUDA_SUCCESS) (void)vgpu_table_put(&item);
  return result;
}

CUresult vgpu_on_cuMemFreeAsync(CUdeviceptr dptr, CUstream stream) {
  return free_async(vgpu_driver()->cuMemFreeAsync, dptr, stream);
}
CUresult vgpu_on_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream stream) {
  return free_async(vgpu_driver()->cuMemFreeAsync_ptsz, dptr, stream);
}

/* ---- the ABI of 32-bit sizes: nothing that still runs uses it, so it is no way around a limit */

static bool refuse_old(const struct vgpu_cuda *cuda) {
  struct vgpu_place p;
  return vgpu_place_current(cuda, &p) && (p.limit.flags & VGPU_LIMIT_MEMORY) != 0 && (p.limit.flags & VGPU_LIMIT_STRICT) != 0;
}

#define ROW_OLD(name, params, args)                                       \
  CUresult vgpu_on_##name params {                                        \
    const struct vgpu_cuda *cuda = vgpu_driver();                         \
    return refuse_old(cuda) ? CUDA_ERROR_NOT_SUPPORTED : cuda->name args; \
  }
#include "rows.h"
