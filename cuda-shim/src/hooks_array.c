/* Arrays and mipmapped arrays: charged by an estimate of their size, since the driver does not tell it. */
#include "array_size.h"
#include "hooks.h"
#include "ledger.h"

static void remember(const struct vgpu_place *p, enum vgpu_what what, void *handle, uint64_t charged) {
  CUcontext ctx = NULL;
  (void)p->cuda->cuCtxGetCurrent(&ctx);
  struct vgpu_item item = {.key = (uint64_t)(uintptr_t)handle,
                           .size = charged,
                           .owner = (uint64_t)(uintptr_t)ctx,
                           .what = (uint8_t)what,
                           .charge = VGPU_CHARGE_DEVICE,
                           .entry = p->entry};
  (void)vgpu_table_put(&item);
}

static CUresult settle(const struct vgpu_place *p, enum vgpu_what what, CUresult result, void *handle, uint64_t charged) {
  if (result == CUDA_SUCCESS) {
    remember(p, what, handle, charged);
  } else {
    vgpu_uncharge(p->shared, p->me, p->entry, VGPU_CHARGE_DEVICE, charged);
  }
  return result;
}

CUresult vgpu_on_cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (array == NULL || desc == NULL || !vgpu_place_current(cuda, &p)) return cuda->cuArrayCreate_v2(array, desc);
  CUDA_ARRAY3D_DESCRIPTOR d = {desc->Width, desc->Height, 0, desc->Format, desc->NumChannels, 0};
  uint64_t size = vgpu_array_bytes(&d, 1);
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) return vgpu_refuse(&p, size);
  CUresult result = cuda->cuArrayCreate_v2(array, desc);
  return settle(&p, VGPU_ARRAY, result, *array, size);
}

CUresult vgpu_on_cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (array == NULL || desc == NULL || !vgpu_place_current(cuda, &p)) return cuda->cuArray3DCreate_v2(array, desc);
  uint64_t size = vgpu_array_bytes(desc, 1);
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) return vgpu_refuse(&p, size);
  CUresult result = cuda->cuArray3DCreate_v2(array, desc);
  return settle(&p, VGPU_ARRAY, result, *array, size);
}

CUresult vgpu_on_cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (array == NULL || desc == NULL || !vgpu_place_current(cuda, &p)) return cuda->cuMipmappedArrayCreate(array, desc, levels);
  uint64_t size = vgpu_array_bytes(desc, levels);
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) return vgpu_refuse(&p, size);
  CUresult result = cuda->cuMipmappedArrayCreate(array, desc, levels);
  return settle(&p, VGPU_MIPMAP, result, *array, size);
}

CUresult vgpu_on_cuArrayDestroy(CUarray array) {
  struct vgpu_item item;
  bool known = vgpu_table_take(VGPU_ARRAY, (uint64_t)(uintptr_t)array, &item);
  CUresult result = vgpu_driver()->cuArrayDestroy(array);
  if (known && result == CUDA_SUCCESS) vgpu_item_gone(&item);
  if (known && result != CUDA_SUCCESS) (void)vgpu_table_put(&item);
  return result;
}

CUresult vgpu_on_cuMipmappedArrayDestroy(CUmipmappedArray array) {
  struct vgpu_item item;
  bool known = vgpu_table_take(VGPU_MIPMAP, (uint64_t)(uintptr_t)array, &item);
  CUresult result = vgpu_driver()->cuMipmappedArrayDestroy(array);
  if (known && result == CUDA_SUCCESS) vgpu_item_gone(&item);
  if (known && result != CUDA_SUCCESS) (void)vgpu_table_put(&item);
  return result;
}
