/* The start of a process, and the driver's own look-up. */
#include "entry.h"
#include "hooks.h"
#include "ledger.h"
#include "log.h"
#include "pace.h"
#include "process.h"

CUresult vgpu_started(const struct vgpu_cuda *cuda) {
  const struct vgpu_shared *shared = vgpu_shared();
  if (shared->mode == VGPU_BROKEN) return CUDA_ERROR_SYSTEM_NOT_READY;
  if (shared->mode == VGPU_PASSIVE) return CUDA_SUCCESS;
  if (vgpu_process_claimed() != NULL && atomic_load_explicit(&vgpu_launching, memory_order_acquire) != NULL)
    return CUDA_SUCCESS;
  if (vgpu_process() == NULL) return CUDA_ERROR_SYSTEM_NOT_READY; /* nothing of what it does would be counted */
  if (!vgpu_devices_learn(cuda, shared)) {
    vgpu_log(VGPU_LOG_ERROR, "limits name none of the devices of this process", shared->directory, -1);
    return CUDA_ERROR_SYSTEM_NOT_READY;
  }
  vgpu_pace_start(cuda, shared);
  atomic_store_explicit(&vgpu_launching, cuda, memory_order_release);
  return CUDA_SUCCESS;
}

CUresult vgpu_on_cuInit(unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  if (vgpu_is_broken()) return CUDA_ERROR_SYSTEM_NOT_READY;
  CUresult result = cuda->cuInit(flags);
  return result == CUDA_SUCCESS ? vgpu_started(cuda) : result;
}

/* The driver decides by name, version and flag; we only see which function came out. The runtime asks without a status. */
CUresult vgpu_on_cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags) {
  CUresult result = vgpu_driver()->cuGetProcAddress(symbol, pfn, version, flags);
  if (result == CUDA_SUCCESS && pfn != NULL) *pfn = vgpu_entry_for(*pfn);
  return result;
}

CUresult vgpu_on_cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status) {
  CUresult result = vgpu_driver()->cuGetProcAddress_v2(symbol, pfn, version, flags, status);
  if (result == CUDA_SUCCESS && pfn != NULL) *pfn = vgpu_entry_for(*pfn);
  return result;
}
