/* Stream-ordered allocation and what changes pools. The arithmetic is pool.c's. */
#include "hooks.h"
#include "ledger.h"
#include "pool.h"

/* In a capture nothing is allocated: the graph will do it when it runs. */
static bool recorded(const struct vgpu_cuda *cuda, CUstream stream, bool per_thread) {
  if (!vgpu_capturing(cuda, stream, per_thread)) return false;
  atomic_store_explicit(&vgpu_graphs_allocate, 1, memory_order_relaxed);
  return true;
}

#define ALLOCATE(name, params, args, pool_handle, per_thread)                                               \
  CUresult vgpu_on_##name params {                                                                          \
    const struct vgpu_cuda *cuda = vgpu_driver();                                                           \
    struct vgpu_place p;                                                                                    \
    struct vgpu_pool_use use;                                                                               \
    if (dptr == NULL || size == 0 || recorded(cuda, stream, per_thread) || !vgpu_place_current(cuda, &p)) { \
      return cuda->name args;                                                                               \
    }                                                                                                       \
    if (!vgpu_pool_before(&p, pool_handle, size, &use)) return vgpu_refuse(&p, size);                       \
    CUresult result = cuda->name args;                                                                      \
    vgpu_pool_after(&p, &use, result == CUDA_SUCCESS);                                                      \
    return result;                                                                                          \
  }

ALLOCATE(cuMemAllocAsync, (CUdeviceptr * dptr, size_t size, CUstream stream), (dptr, size, stream), NULL, false)
ALLOCATE(cuMemAllocAsync_ptsz, (CUdeviceptr * dptr, size_t size, CUstream stream), (dptr, size, stream), NULL, true)
ALLOCATE(cuMemAllocFromPoolAsync, (CUdeviceptr * dptr, size_t size, CUmemoryPool pool, CUstream stream),
         (dptr, size, pool, stream), pool, false)
ALLOCATE(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * dptr, size_t size, CUmemoryPool pool, CUstream stream),
         (dptr, size, pool, stream), pool, true)

CUresult vgpu_on_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
  CUresult result = vgpu_driver()->cuMemPoolCreate(pool, props);
  if (result == CUDA_SUCCESS) vgpu_pool_made(*pool, props->location);
  return result;
}

CUresult vgpu_on_cuMemPoolDestroy(CUmemoryPool pool) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  uint64_t out = vgpu_pool_gone(cuda, pool); /* before its number can be another pool's */
  CUresult result = cuda->cuMemPoolDestroy(pool);
  if (result != CUDA_SUCCESS) vgpu_pool_kept(cuda, pool, out);
  return result;
}

CUresult vgpu_on_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuMemPoolTrimTo(pool, keep);
  vgpu_pool_read(cuda, pool);
  return result;
}

CUresult vgpu_on_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuMemPoolSetAttribute(pool, attribute, value);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) vgpu_pool_read(cuda, pool);
  return result;
}

CUresult vgpu_on_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type,
                                                    unsigned long long flags) {
  CUresult result = vgpu_driver()->cuMemPoolImportFromShareableHandle(pool, handle, type, flags);
  if (result == CUDA_SUCCESS) vgpu_pool_foreign(*pool); /* its owner reserves, and pays */
  return result;
}

CUresult vgpu_on_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  CUresult result = vgpu_driver()->cuDeviceSetMemPool(device, pool);
  vgpu_pool_switched(device);
  return result;
}

CUresult vgpu_on_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
  CUresult result = vgpu_driver()->cuMemSetMemPool(location, type, pool);
  if (location != NULL && location->type == CU_MEM_LOCATION_TYPE_DEVICE) vgpu_pool_switched(location->id);
  return result;
}
