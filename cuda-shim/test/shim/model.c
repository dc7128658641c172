#include "model.h"

#include <pthread.h>
#include <string.h>

struct model model;

enum { BLOCKS = 4096 };
static struct block {
  CUdeviceptr at;
  uint64_t size;
} blocks[BLOCKS];
static CUdeviceptr next_address = 0x700000000000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult planned_failure(void) {
  CUresult result = model.fail_next;
  model.calls++;
  model.fail_next = CUDA_SUCCESS;
  return result;
}

static void use(int64_t bytes) {
  int64_t now = model.used += bytes, peak = model.peak;
  while (now > peak && !atomic_compare_exchange_weak(&model.peak, &peak, now)) continue;
}

static CUresult take(CUdeviceptr *at, uint64_t size) {
  CUresult result = planned_failure();
  if (result != CUDA_SUCCESS) return result;
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > model.total || (uint64_t)model.used + size > model.total) return CUDA_ERROR_OUT_OF_MEMORY;
  (void)pthread_mutex_lock(&lock);
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].at != 0) continue;
    blocks[i] = (struct block){next_address, size};
    *at = next_address;
    next_address += (size + 0xFFFFF) & ~(uint64_t)0xFFFFF;
    use((int64_t)size);
    (void)pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
  }
  (void)pthread_mutex_unlock(&lock);
  return CUDA_ERROR_UNKNOWN;
}

static CUresult give(CUdeviceptr at) {
  CUresult result = planned_failure();
  if (result != CUDA_SUCCESS) return result;
  if (at == 0) return CUDA_SUCCESS;
  (void)pthread_mutex_lock(&lock);
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].at != at) continue;
    use(-(int64_t)blocks[i].size);
    blocks[i].at = 0;
    (void)pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
  }
  (void)pthread_mutex_unlock(&lock);
  return CUDA_ERROR_INVALID_VALUE;
}

/* ---- memory */

static CUresult mem_alloc(CUdeviceptr *at, size_t size) { return take(at, size); }
static CUresult mem_free(CUdeviceptr at) { return give(at); }
static CUresult mem_pitch(CUdeviceptr *at, size_t *pitch, size_t width, size_t height, unsigned int element) {
  (void)element;
  *pitch = (width + 1023) / 1024 * 1024; /* more than the library guesses */
  return take(at, *pitch * height);
}
static CUresult mem_managed(CUdeviceptr *at, size_t size, unsigned int flags) {
  (void)flags;
  model.managed_calls++;
  *at = next_address; /* on the host, as far as the card is concerned */
  next_address += 1 << 30;
  return size == 0 ? CUDA_ERROR_INVALID_VALUE : planned_failure();
}
static CUresult mem_advise(CUdeviceptr at, size_t size, CUmem_advise advice, CUdevice device) {
  (void)at, (void)size, (void)advice, (void)device;
  return CUDA_SUCCESS;
}
static CUresult mem_info(size_t *available, size_t *total) {
  *available = model.total - (uint64_t)model.used;
  *total = model.total;
  return CUDA_SUCCESS;
}
static CUresult total_mem(size_t *bytes, CUdevice device) {
  *bytes = model.total;
  return device < model.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
static CUresult array_create(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc) {
  (void)desc;
  return take((CUdeviceptr *)array, MODEL_MIB);
}
static CUresult array_destroy(CUarray array) { return give((CUdeviceptr)(uintptr_t)array); }
static CUresult create(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                       unsigned long long flags) {
  (void)prop, (void)flags;
  return take(handle, size);
}
/* The model gives handles out again at once, and keeps no mappings: the library has to know by itself. */
static CUresult release(CUmemGenericAllocationHandle handle) {
  (void)handle;
  return planned_failure();
}
static CUresult retain(CUmemGenericAllocationHandle *handle, void *addr) {
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)addr & ~(CUmemGenericAllocationHandle)0xFFFFF;
  return planned_failure();
}
static CUresult map(CUdeviceptr at, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  (void)at, (void)size, (void)offset, (void)handle, (void)flags;
  return planned_failure();
}
static CUresult unmap(CUdeviceptr at, size_t size) {
  (void)at, (void)size;
  return planned_failure();
}
static CUresult map_array(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
  (void)list, (void)count, (void)stream;
  return planned_failure();
}
static CUresult import(CUmemGenericAllocationHandle *handle, void *shared, CUmemAllocationHandleType type) {
  (void)type;
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)shared;
  return planned_failure();
}
static CUresult export(void *shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                       unsigned long long flags) {
  (void)shared, (void)handle, (void)type, (void)flags;
  return planned_failure();
}
static CUresult ipc_get(CUipcMemHandle *handle, CUdeviceptr at) {
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &at, sizeof at);
  return planned_failure();
}
static CUresult ipc_open(CUdeviceptr *at, CUipcMemHandle handle, unsigned int flags) {
  (void)flags;
  memcpy(at, &handle, sizeof *at);
  *at += 0x10000000000;
  return planned_failure();
}
static CUresult ipc_close(CUdeviceptr at) {
  (void)at;
  return planned_failure();
}
static CUresult range(CUdeviceptr *base, size_t *size, CUdeviceptr at) {
  *base = at;
  *size = 64 * MODEL_MIB;
  return CUDA_SUCCESS;
}
static CUresult host_alloc(void **at, size_t size, unsigned int flags) {
  (void)flags;
  return take((CUdeviceptr *)at, size);
}
static CUresult host_free(void *at) { return give((CUdeviceptr)(uintptr_t)at); }

/* ---- pools: one, which keeps what it has */

static CUresult pool_alloc(CUdeviceptr *at, size_t size, CUstream stream) {
  (void)stream;
  CUresult result = planned_failure();
  if (result != CUDA_SUCCESS) return result;
  model.pool_used += (size + 511) / 512 * 512;
  while (model.pool_reserved < model.pool_used) {
    model.pool_reserved += model.pool_step;
    use((int64_t)model.pool_step);
  }
  *at = next_address;
  next_address += 1 << 30;
  return result;
}
static CUresult pool_free(CUdeviceptr at, CUstream stream) {
  (void)at, (void)stream;
  model.pool_used = 0; /* the tests free all there is */
  return planned_failure();
}
static CUresult pool_trim(CUmemoryPool pool, size_t keep) {
  (void)pool;
  uint64_t kept = model.pool_used > keep ? model.pool_used : keep;
  kept = (kept + model.pool_step - 1) / model.pool_step * model.pool_step;
  if (kept < model.pool_reserved) {
    use((int64_t)kept - (int64_t)model.pool_reserved);
    model.pool_reserved = kept;
  }
  return CUDA_SUCCESS;
}
static CUresult pool_destroy(CUmemoryPool pool) {
  (void)pool;
  CUresult result = planned_failure();
  if (result == CUDA_SUCCESS) model.pool_reserved = model.pool_used;
  return result;
}
static CUresult pool_get(CUmemoryPool *pool, CUdevice device) {
  *pool = (CUmemoryPool)(uintptr_t)(0x5000 + device);
  return CUDA_SUCCESS;
}
static CUresult pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  (void)pool;
  model.queries++;
  *(uint64_t *)value = attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? model.pool_used : model.pool_reserved;
  return CUDA_SUCCESS;
}
static CUresult graph_attribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
  (void)device, (void)attribute;
  *(uint64_t *)value = model.graph_reserved;
  return CUDA_SUCCESS;
}

/* ---- devices, contexts, streams */

static CUresult count(int *n) {
  *n = model.devices;
  return CUDA_SUCCESS;
}
static CUresult get(CUdevice *device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
static CUresult uuid(CUuuid *out, CUdevice device) {
  memset(out, 0x11, sizeof *out);
  out->bytes[15] = (char)(0xA0 + device);
  return CUDA_SUCCESS;
}
static CUresult attribute(int *value, CUdevice_attribute which, CUdevice device) {
  (void)which, (void)device;
  *value = model.managed_works;
  return CUDA_SUCCESS;
}
static CUresult current_device(CUdevice *device) {
  *device = model.current;
  return CUDA_SUCCESS;
}
static CUresult current(CUcontext *ctx) {
  *ctx = model.ctx;
  return CUDA_SUCCESS;
}
static CUresult ctx_create(CUcontext *ctx, unsigned int flags, CUdevice device) {
  (void)flags, (void)device;
  CUresult result = planned_failure();
  static uintptr_t last = 0x9000;
  if (result == CUDA_SUCCESS) *ctx = model.ctx = (CUcontext)(last += 16);
  return result;
}
static CUresult ctx_destroy(CUcontext ctx) {
  if (model.ctx == ctx) model.ctx = NULL;
  return planned_failure();
}
static CUresult primary_retain(CUcontext *ctx, CUdevice device) {
  (void)device;
  CUresult result = planned_failure();
  if (result != CUDA_SUCCESS) return result;
  model.primary_count++;
  *ctx = model.ctx = (CUcontext)0x8000;
  return result;
}
static CUresult primary_release(CUdevice device) {
  (void)device;
  CUresult result = planned_failure();
  if (result == CUDA_SUCCESS && model.primary_count > 0) model.primary_count--;
  return result;
}
static CUresult primary_state(CUdevice device, unsigned int *flags, int *active) {
  (void)device;
  *flags = 0;
  *active = model.primary_count > 0;
  return CUDA_SUCCESS;
}
static CUresult stream_status(CUstream stream, CUstreamCaptureStatus *status) {
  (void)stream;
  *status = model.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
static CUresult capture_begin(CUstream stream, CUstreamCaptureMode mode) {
  (void)stream, (void)mode;
  model.capturing = 1;
  return CUDA_SUCCESS;
}
static CUresult capture_end(CUstream stream, CUgraph *graph) {
  (void)stream, (void)graph;
  model.capturing = 0;
  return planned_failure();
}
static CUresult graph_launch(CUgraphExec graph, CUstream stream) {
  (void)graph, (void)stream;
  return CUDA_SUCCESS;
}
static CUresult wait_for_stream(CUstream stream) {
  (void)stream;
  model.synchronisations++;
  return CUDA_SUCCESS;
}
static CUresult init(unsigned int flags) {
  (void)flags;
  return planned_failure();
}
static CUresult unknown(void) { return CUDA_ERROR_NOT_SUPPORTED; }

void model_begin(uint64_t mib) {
  static struct vgpu_cuda table;
  memset(&model, 0, sizeof model);
  memset(blocks, 0, sizeof blocks);
  model.total = mib * MODEL_MIB;
  model.devices = 1;
  model.ctx = (CUcontext)0x7000;
  model.pool_step = 32 * MODEL_MIB;
  model.managed_works = 1;
  for (size_t i = 0; i < sizeof table / sizeof(void *); i++) ((void **)&table)[i] = (void *)unknown;
  table.cuInit = init;
  table.cuMemAlloc_v2 = mem_alloc;
  table.cuMemFree_v2 = mem_free;
  table.cuMemAllocPitch_v2 = mem_pitch;
  table.cuMemAllocManaged = mem_managed;
  table.cuMemAdvise = mem_advise;
  table.cuMemGetInfo_v2 = mem_info;
  table.cuDeviceTotalMem_v2 = total_mem;
  table.cuArray3DCreate_v2 = array_create;
  table.cuArrayDestroy = array_destroy;
  table.cuMemCreate = create;
  table.cuMemRelease = release;
  table.cuMemRetainAllocationHandle = retain;
  table.cuMemMap = map;
  table.cuMemUnmap = unmap;
  table.cuMemMapArrayAsync = map_array;
  table.cuMemImportFromShareableHandle = import;
  table.cuMemExportToShareableHandle = export;
  table.cuIpcGetMemHandle = ipc_get;
  table.cuIpcOpenMemHandle_v2 = ipc_open;
  table.cuIpcCloseMemHandle = ipc_close;
  table.cuMemGetAddressRange_v2 = range;
  table.cuMemHostAlloc = host_alloc;
  table.cuMemFreeHost = host_free;
  table.cuMemAllocAsync = pool_alloc;
  table.cuMemFreeAsync = pool_free;
  table.cuMemPoolTrimTo = pool_trim;
  table.cuMemPoolDestroy = pool_destroy;
  table.cuDeviceGetMemPool = pool_get;
  table.cuMemPoolGetAttribute = pool_attribute;
  table.cuDeviceGetGraphMemAttribute = graph_attribute;
  table.cuDeviceGetCount = count;
  table.cuDeviceGet = get;
  table.cuDeviceGetUuid_v2 = uuid;
  table.cuDeviceGetUuid = uuid;
  table.cuDeviceGetAttribute = attribute;
  table.cuCtxGetDevice = current_device;
  table.cuCtxGetCurrent = current;
  table.cuCtxCreate_v2 = ctx_create;
  table.cuCtxDestroy_v2 = ctx_destroy;
  table.cuDevicePrimaryCtxRetain = primary_retain;
  table.cuDevicePrimaryCtxRelease_v2 = primary_release;
  table.cuDevicePrimaryCtxReset_v2 = primary_release;
  table.cuDevicePrimaryCtxGetState = primary_state;
  table.cuStreamIsCapturing = stream_status;
  table.cuStreamBeginCapture_v2 = capture_begin;
  table.cuStreamEndCapture = capture_end;
  table.cuGraphLaunch = graph_launch;
  table.cuStreamSynchronize = wait_for_stream;
  atomic_store(&vgpu_cuda_table, &table);
}
