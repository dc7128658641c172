/* Memory that another process owns: by an IPC handle, or by a descriptor of another interface. */
#include "exports.h"
#include "hooks.h"
#include "ledger.h"

enum { EXPORTED_POINTER = 2 };

CUresult vgpu_on_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr dptr) {
  CUresult result = vgpu_driver()->cuIpcGetMemHandle(handle, dptr);
  if (result == CUDA_SUCCESS) vgpu_export_note(vgpu_shared(), vgpu_hash(handle, sizeof *handle, EXPORTED_POINTER));
  return result;
}

/* The size is known only once it is open: what does not fit then is closed again. */
static CUresult charge_open(const struct vgpu_cuda *cuda, CUdeviceptr *dptr, const CUipcMemHandle *handle) {
  struct vgpu_item item;
  struct vgpu_place p;
  CUdeviceptr base = *dptr;
  size_t size = 0;
  if (vgpu_table_count(VGPU_IPC, *dptr, 1, &item) || !vgpu_place_current(cuda, &p))
    return CUDA_SUCCESS; /* the same mapping again */
  bool ours = vgpu_export_known(p.shared, vgpu_hash(handle, sizeof *handle, EXPORTED_POINTER));
  if (ours || cuda->cuMemGetAddressRange_v2(&base, &size, *dptr) != CUDA_SUCCESS) size = 0;
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) {
    (void)cuda->cuIpcCloseMemHandle(*dptr);
    *dptr = 0;
    return vgpu_refuse(&p, size);
  }
  CUcontext ctx = NULL;
  (void)cuda->cuCtxGetCurrent(&ctx);
  item = (struct vgpu_item){.key = *dptr,
                            .size = size,
                            .owner = (uint64_t)(uintptr_t)ctx,
                            .count = 1,
                            .what = VGPU_IPC,
                            .charge = VGPU_CHARGE_DEVICE,
                            .entry = p.entry};
  (void)vgpu_table_put(&item);
  return CUDA_SUCCESS;
}

CUresult vgpu_on_cuIpcOpenMemHandle(CUdeviceptr *dptr, CUipcMemHandle handle, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuIpcOpenMemHandle(dptr, handle, flags);
  return result == CUDA_SUCCESS ? charge_open(cuda, dptr, &handle) : result;
}

CUresult vgpu_on_cuIpcOpenMemHandle_v2(CUdeviceptr *dptr, CUipcMemHandle handle, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuIpcOpenMemHandle_v2(dptr, handle, flags);
  return result == CUDA_SUCCESS ? charge_open(cuda, dptr, &handle) : result;
}

CUresult vgpu_on_cuIpcCloseMemHandle(CUdeviceptr dptr) {
  struct vgpu_item item, again;
  bool known = vgpu_table_count(VGPU_IPC, dptr, -1, &item);
  CUresult result = vgpu_driver()->cuIpcCloseMemHandle(dptr);
  if (!known) return result;
  if (result == CUDA_SUCCESS) {
    if (item.count == 0) vgpu_item_gone(&item);
  } else if (item.count > 0) {
    (void)vgpu_table_count(VGPU_IPC, dptr, 1, &again);
  } else {
    item.count = 1;
    (void)vgpu_table_put(&item);
  }
  return result;
}

CUresult vgpu_on_cuImportExternalMemory(CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  if (memory == NULL || desc == NULL || !vgpu_place_current(cuda, &p)) return cuda->cuImportExternalMemory(memory, desc);
  /* of an interface that is not counted, or of another container: somebody has to pay */
  uint64_t size = desc->size;
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) return vgpu_refuse(&p, size);
  CUresult result = cuda->cuImportExternalMemory(memory, desc);
  if (result != CUDA_SUCCESS) {
    vgpu_uncharge(p.shared, p.me, p.entry, VGPU_CHARGE_DEVICE, size);
    return result;
  }
  struct vgpu_item item = {
      .key = (uint64_t)(uintptr_t)*memory, .size = size, .what = VGPU_EXTERNAL, .charge = VGPU_CHARGE_DEVICE, .entry = p.entry};
  (void)vgpu_table_put(&item);
  return result;
}

CUresult vgpu_on_cuDestroyExternalMemory(CUexternalMemory memory) {
  struct vgpu_item item;
  bool known = vgpu_table_take(VGPU_EXTERNAL, (uint64_t)(uintptr_t)memory, &item);
  CUresult result = vgpu_driver()->cuDestroyExternalMemory(memory);
  if (known && result == CUDA_SUCCESS) vgpu_item_gone(&item);
  if (known && result != CUDA_SUCCESS) (void)vgpu_table_put(&item);
  return result;
}
