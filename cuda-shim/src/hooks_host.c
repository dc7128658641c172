/* Pinned host memory. It belongs to the memory cgroup; counted always, refused only beyond a quota. */
#include "hooks.h"
#include "ledger.h"

static bool begin(const struct vgpu_cuda *cuda, uint64_t size, struct vgpu_place *p, bool *counted) {
  *counted = size != 0 && vgpu_place_current(cuda, p);
  return !*counted || vgpu_charge_pinned(p, size);
}

static CUresult end(const struct vgpu_place *p, bool counted, CUresult result, const void *pointer, uint64_t size) {
  if (!counted) return result;
  if (result != CUDA_SUCCESS) {
    vgpu_uncharge_pinned(p, size);
    return result;
  }
  struct vgpu_item item = {.key = (uint64_t)(uintptr_t)pointer, .size = size, .what = VGPU_PINNED, .entry = p->entry};
  (void)vgpu_table_put(&item);
  return result;
}

static CUresult released(const struct vgpu_item *item, bool known, CUresult result) {
  struct vgpu_place p = {.shared = vgpu_shared(), .me = vgpu_process_claimed()};
  if (!known) return result;
  if (result != CUDA_SUCCESS) {
    (void)vgpu_table_put(item);
  } else if (p.me != NULL) {
    vgpu_uncharge_pinned(&p, item->size);
  }
  return result;
}

CUresult vgpu_on_cuMemAllocHost_v2(void **pointer, size_t size) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  bool counted;
  if (pointer == NULL) return cuda->cuMemAllocHost_v2(pointer, size);
  if (!begin(cuda, size, &p, &counted)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = cuda->cuMemAllocHost_v2(pointer, size);
  return end(&p, counted, result, *pointer, size);
}

CUresult vgpu_on_cuMemHostAlloc(void **pointer, size_t size, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  bool counted;
  if (pointer == NULL) return cuda->cuMemHostAlloc(pointer, size, flags);
  if (!begin(cuda, size, &p, &counted)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = cuda->cuMemHostAlloc(pointer, size, flags);
  return end(&p, counted, result, *pointer, size);
}

CUresult vgpu_on_cuMemHostRegister_v2(void *pointer, size_t size, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  bool counted;
  if (!begin(cuda, size, &p, &counted)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = cuda->cuMemHostRegister_v2(pointer, size, flags);
  return end(&p, counted, result, pointer, size);
}

CUresult vgpu_on_cuMemFreeHost(void *pointer) {
  struct vgpu_item item;
  bool known = vgpu_table_take(VGPU_PINNED, (uint64_t)(uintptr_t)pointer, &item);
  return released(&item, known, vgpu_driver()->cuMemFreeHost(pointer));
}

CUresult vgpu_on_cuMemHostUnregister(void *pointer) {
  struct vgpu_item item;
  bool known = vgpu_table_take(VGPU_PINNED, (uint64_t)(uintptr_t)pointer, &item);
  return released(&item, known, vgpu_driver()->cuMemHostUnregister(pointer));
}
