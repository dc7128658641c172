/* Questions about an address, and handles by which another process can name one. */
#include "driver.h"

static int memory_type(const struct memory *m) {
  bool host = m->kind == MEMORY_HOST || m->kind == MEMORY_REGISTERED;
  return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUresult answer(void *data, int which, const struct memory *m, CUdeviceptr ptr) {
  bool host = memory_type(m) == CU_MEMORYTYPE_HOST;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = m->ctx; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)data = (unsigned)memory_type(m); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = ptr; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *(void **)data = host || m->kind == MEMORY_MANAGED ? (void *)(uintptr_t)ptr : NULL;
      return host || m->kind == MEMORY_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(int *)data = 0; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = m->id; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(int *)data = m->kind == MEMORY_MANAGED; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = m->device; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(int *)data = m->kind == MEMORY_DEVICE; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = m->at; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = m->bytes; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)data = 1; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(int *)data = m->kind == MEMORY_VMM; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(int *)data = 3; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *(CUmemoryPool *)data = m->kind == MEMORY_POOL ? m->pool : NULL;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuPointerGetAttribute(void *data, int which, CUdeviceptr ptr);
CUresult cuPointerGetAttribute(void *data, int which, CUdeviceptr ptr) {
  ENTER;
  struct memory m;
  if (data == NULL || !memory_find(ptr, &m)) return CUDA_ERROR_INVALID_VALUE;
  return answer(data, which, &m, ptr);
}

/* An unknown address is no error here: every answer is then nothing. */
CUresult cuPointerGetAttributes(unsigned int count, int *which, void **data, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned int count, int *which, void **data, CUdeviceptr ptr) {
  ENTER;
  struct memory m = {0};
  if (count == 0 || which == NULL || data == NULL) return CUDA_ERROR_INVALID_VALUE;
  bool known = memory_find(ptr, &m);
  for (unsigned i = 0; i < count; i++) {
    if (known && answer(data[i], which[i], &m, ptr) == CUDA_SUCCESS) continue;
    bool wide = which[i] == CU_POINTER_ATTRIBUTE_CONTEXT || which[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                which[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER || which[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                which[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE || which[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                which[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    memset(data[i], which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? 0xFF : 0, wide ? 8 : 4);
  }
  return CUDA_SUCCESS;
}

/* ---- between processes -------------------------------------------------------------------------------------------------------- */

#define IPC_MAGIC UINT64_C(0x4350494B4146)
struct ipc {
  uint64_t magic;
  uint32_t slot, generation;
  uint64_t at, bytes, offset;
  uint32_t card;
};
_Static_assert(sizeof(struct ipc) <= sizeof(CUipcMemHandle), "an IPC handle has 64 bytes");

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr dptr) {
  ENTER;
  struct memory m;
  if (handle == NULL || !memory_find(dptr, &m) || m.kind != MEMORY_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  struct ipc ipc = {.magic = IPC_MAGIC,
                    .slot = driver.gpu.slot,
                    .generation = driver.gpu.tag >> 16,
                    .at = m.at,
                    .bytes = m.bytes,
                    .offset = dptr - m.at,
                    .card = card_of(m.device)};
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &ipc, sizeof ipc);
  return CUDA_SUCCESS;
}

static struct {
  struct ipc ipc;
  uint64_t at;
  unsigned count;
} opened[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The same memory opened twice is the same address, counted. */
static CUresult open_handle(CUdeviceptr *dptr, const struct ipc *ipc, struct CUctx_st *ctx) {
  int spare = -1;
  for (int i = 0; i < 1024; i++) {
    if (opened[i].count == 0) spare = spare < 0 ? i : spare;
    if (opened[i].count == 0 || opened[i].ipc.slot != ipc->slot || opened[i].ipc.generation != ipc->generation ||
        opened[i].ipc.at != ipc->at)
      continue;
    opened[i].count++;
    *dptr = opened[i].at + ipc->offset;
    return CUDA_SUCCESS;
  }
  if (spare < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t mapped = (ipc->bytes + 4095) / 4096 * 4096;
  struct memory m = {
      .at = memory_map(mapped), .bytes = ipc->bytes, .mapped = mapped, .kind = MEMORY_IPC, .device = ctx->device, .ctx = ctx};
  if (m.at == 0 || !memory_insert(&m)) return CUDA_ERROR_OUT_OF_MEMORY;
  opened[spare].ipc = *ipc;
  opened[spare].at = m.at;
  opened[spare].count = 1;
  *dptr = m.at + ipc->offset;
  return CUDA_SUCCESS;
}

static CUresult open_ipc(CUdeviceptr *dptr, CUipcMemHandle handle, unsigned flags) {
  struct ipc ipc;
  struct CUctx_st *ctx = context_current();
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  memcpy(&ipc, &handle, sizeof ipc);
  if (dptr == NULL || flags > 1 || ipc.magic != IPC_MAGIC || ipc.slot >= GPU_PROCESSES) return CUDA_ERROR_INVALID_VALUE;
  if (ipc.slot == driver.gpu.slot && ipc.generation == driver.gpu.tag >> 16) return CUDA_ERROR_INVALID_CONTEXT; /* one's own */
  bool there = driver.gpu.state->processes[ipc.slot].generation == ipc.generation && gpu_alive(&driver.gpu, ipc.slot, NULL);
  if (!there) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  CUresult result = open_handle(dptr, &ipc, ctx);
  (void)pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *dptr, CUipcMemHandle handle, unsigned int flags) {
  ENTER;
  return open_ipc(dptr, handle, flags);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *dptr, CUipcMemHandle handle, unsigned int flags) {
  ENTER;
  return open_ipc(dptr, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  ENTER;
  struct memory m;
  bool found = false;
  if (!memory_find(dptr, &m) || m.kind != MEMORY_IPC) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  for (int i = 0; i < 1024 && !found; i++) {
    found = opened[i].count > 0 && opened[i].at == m.at;
    if (found && --opened[i].count == 0 && memory_remove(m.at, &m)) (void)memory_release(&m);
  }
  (void)pthread_mutex_unlock(&lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
