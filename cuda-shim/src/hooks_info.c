/* What a program is told of its memory: the container's part of the card, not the card. */
#include "hooks.h"
#include "ledger.h"
#include "pool.h"

CUresult vgpu_on_cuMemGetInfo_v2(size_t *available, size_t *total) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuMemGetInfo_v2(available, total);
  struct vgpu_place p;
  if (result != CUDA_SUCCESS || available == NULL || total == NULL || !vgpu_place_current(cuda, &p)) return result;
  if ((p.limit.flags & VGPU_LIMIT_MEMORY) == 0) return result;
  vgpu_pools_read(&p);
  vgpu_overhead_learn(&p);
  struct vgpu_totals t = vgpu_totals(p.shared, p.entry);
  uint64_t used = t.physical + t.managed, left = used < p.limit.memory ? p.limit.memory - used : 0;
  /* memory beyond the card's is no promise of the card's */
  bool beyond = (p.limit.flags & VGPU_LIMIT_OVERSUBSCRIBE) != 0;
  if (beyond || left < *available) *available = left;
  *total = p.limit.memory;
  return result;
}

CUresult vgpu_on_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuDeviceTotalMem_v2(bytes, device);
  struct vgpu_place p;
  if (result != CUDA_SUCCESS || bytes == NULL || !vgpu_place_device(cuda, device, &p)) return result;
  if ((p.limit.flags & VGPU_LIMIT_MEMORY) != 0) *bytes = p.limit.memory;
  return result;
}
