/*
 * Physical memory behind handles. A RECORD stands for the memory and is charged; handles and mappings point to it and are
 * counted in it, since memory lives until the last of both is gone, and since a driver may give a released handle's number
 * out again while the old memory is still mapped.
 */
#include "exports.h"
#include "hooks.h"
#include "ledger.h"

enum { EXPORTED_MEMORY = 1 };

static _Atomic uint64_t last_record;

static uint64_t make_record(const struct vgpu_place *p, uint64_t size, enum vgpu_charge kind) {
  struct vgpu_item record = {.key = atomic_fetch_add(&last_record, 1) + 1,
                             .size = size,
                             .count = 1,
                             .what = VGPU_RECORD,
                             .charge = (uint8_t)kind,
                             .entry = p->entry};
  return vgpu_table_put(&record) ? record.key : 0;
}

static void hold(uint64_t record) {
  struct vgpu_item item;
  (void)vgpu_table_count(VGPU_RECORD, record, 1, &item);
}

static void let_go(uint64_t record) {
  struct vgpu_item item;
  if (vgpu_table_count(VGPU_RECORD, record, -1, &item) && item.count == 0) vgpu_item_gone(&item);
}

static void name(CUmemGenericAllocationHandle handle, uint64_t record) {
  struct vgpu_item item = {.key = handle, .owner = record, .count = 1, .what = VGPU_HANDLE, .entry = VGPU_NO_ENTRY};
  (void)vgpu_table_put(&item);
}

CUresult vgpu_on_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                             unsigned long long flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_place p;
  /* the device of the request, not of the context; memory of the host belongs to the memory cgroup */
  if (handle == NULL || prop == NULL || size == 0 || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      !vgpu_place_device(cuda, prop->location.id, &p)) {
    return cuda->cuMemCreate(handle, size, prop, flags);
  }
  enum vgpu_charge kind = prop->type == CU_MEM_ALLOCATION_TYPE_MANAGED ? VGPU_CHARGE_MANAGED : VGPU_CHARGE_DEVICE;
  if (!vgpu_charge(&p, kind, size)) return vgpu_refuse(&p, size);
  CUresult result = cuda->cuMemCreate(handle, size, prop, flags);
  if (result == CUDA_SUCCESS) {
    name(*handle, make_record(&p, size, kind));
  } else {
    vgpu_uncharge(p.shared, p.me, p.entry, kind, size);
  }
  return result;
}

CUresult vgpu_on_cuMemRelease(CUmemGenericAllocationHandle handle) {
  struct vgpu_item item;
  bool known = vgpu_table_count(VGPU_HANDLE, handle, -1, &item);
  CUresult result = vgpu_driver()->cuMemRelease(handle);
  if (!known) return result;
  if (result == CUDA_SUCCESS) {
    let_go(item.owner);
  } else if (item.count > 0) {
    (void)vgpu_table_count(VGPU_HANDLE, handle, 1, &item);
  } else {
    name(handle, item.owner);
  }
  return result;
}

CUresult vgpu_on_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
  CUresult result = vgpu_driver()->cuMemRetainAllocationHandle(handle, addr);
  struct vgpu_item item;
  if (result != CUDA_SUCCESS) return result;
  if (vgpu_table_count(VGPU_HANDLE, *handle, 1, &item)) {
    hold(item.owner);
  } else if (vgpu_table_covering(VGPU_MAPPING, (uint64_t)(uintptr_t)addr, &item)) {
    name(*handle, item.owner);
    hold(item.owner);
  }
  return result;
}

/* ---- between processes */

CUresult vgpu_on_cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                              unsigned long long flags) {
  CUresult result = vgpu_driver()->cuMemExportToShareableHandle(shared, handle, type, flags);
  struct vgpu_item named, record;
  if (result == CUDA_SUCCESS && vgpu_table_get(VGPU_HANDLE, handle, &named) &&
      vgpu_table_get(VGPU_RECORD, named.owner, &record)) {
    /* nothing in what is passed on identifies the memory; its size does well enough */
    vgpu_export_note(vgpu_shared(), vgpu_hash(&record.size, sizeof record.size, EXPORTED_MEMORY));
  }
  return result;
}

CUresult vgpu_on_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                                CUmemAllocationHandleType type) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuMemImportFromShareableHandle(handle, shared, type);
  struct vgpu_place p;
  /* its size shows when it is mapped */
  if (result == CUDA_SUCCESS && vgpu_place_current(cuda, &p)) name(*handle, make_record(&p, 0, VGPU_CHARGE_NONE));
  return result;
}

/* An import is charged when it is mapped first, unless somebody in this container exported such memory. */
static bool charge_import(const struct vgpu_cuda *cuda, uint64_t id, uint64_t size, CUresult *refused) {
  struct vgpu_item record;
  struct vgpu_place p;
  if (!vgpu_table_get(VGPU_RECORD, id, &record) || record.charge != VGPU_CHARGE_NONE || record.size != 0) return true;
  uint64_t hash = vgpu_hash(&size, sizeof size, EXPORTED_MEMORY);
  if (vgpu_export_known(vgpu_shared(), hash) || !vgpu_place_current(cuda, &p)) return true;
  if (!vgpu_charge(&p, VGPU_CHARGE_DEVICE, size)) {
    *refused = vgpu_refuse(&p, size);
    return false;
  }
  if (!vgpu_table_take(VGPU_RECORD, id, &record)) return true;
  record.size = size;
  record.charge = VGPU_CHARGE_DEVICE;
  record.entry = p.entry;
  (void)vgpu_table_put(&record);
  return true;
}

/* ---- mapping */

CUresult vgpu_on_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                          unsigned long long flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_item named;
  CUresult refused;
  bool known = vgpu_table_get(VGPU_HANDLE, handle, &named);
  if (known && !charge_import(cuda, named.owner, size, &refused)) return refused;
  CUresult result = cuda->cuMemMap(ptr, size, offset, handle, flags);
  if (known && result == CUDA_SUCCESS) {
    struct vgpu_item mapping = {.key = ptr, .size = size, .owner = named.owner, .what = VGPU_MAPPING, .entry = VGPU_NO_ENTRY};
    hold(named.owner);
    (void)vgpu_table_put(&mapping);
  }
  return result;
}

CUresult vgpu_on_cuMemUnmap(CUdeviceptr ptr, size_t size) {
  CUresult result = vgpu_driver()->cuMemUnmap(ptr, size);
  if (result != CUDA_SUCCESS) return result;
  /* one call may take several mappings, but only whole ones */
  struct vgpu_item mapping;
  for (uint64_t at = ptr; at - ptr < size && vgpu_table_take(VGPU_MAPPING, at, &mapping) && mapping.size > 0;
       at += mapping.size) {
    let_go(mapping.owner);
  }
  return result;
}

/*
 * Tiles of sparse arrays. An unmapping does not say what it unmaps, so memory that was once mapped in this way stays charged
 * until the process ends: too much is on the safe side.
 */
static CUresult mapped(CUresult result, const CUarrayMapInfo *list, unsigned int count) {
  for (unsigned int i = 0; result == CUDA_SUCCESS && list != NULL && i < count; i++) {
    struct vgpu_item named;
    if (list[i].memOperationType != CU_MEM_OPERATION_TYPE_MAP) continue;
    if (vgpu_table_get(VGPU_HANDLE, list[i].memHandle.memHandle, &named)) hold(named.owner);
  }
  return result;
}

CUresult vgpu_on_cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
  return mapped(vgpu_driver()->cuMemMapArrayAsync(list, count, stream), list, count);
}
CUresult vgpu_on_cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
  return mapped(vgpu_driver()->cuMemMapArrayAsync_ptsz(list, count, stream), list, count);
}
