/*
 * Memory that programs name by address. It is address space of the process, costs nothing until touched, and can be read
 * and written by the host too, so copies really copy. What the card has left is counted in the shared file.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "driver.h"

enum { PAGE = 4096, PITCH = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *table; /* by address */
static size_t count, room;
static unsigned long long next_id;

/*
 * Addresses that were given back and may be handed out again as they are. Asking the kernel costs far more than the
 * counting around it, and the cost of the latter is what benchmarks of limits want to see.
 */
enum { SPARE = 32, SPARE_BYTES = 64 << 20 };
static struct { uint64_t at, bytes; } spare[SPARE];
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t take_spare(uint64_t bytes) {
  uint64_t at = 0;
  (void)pthread_mutex_lock(&spare_lock);
  for (int i = 0; i < SPARE && at == 0; i++) {
    if (spare[i].bytes != bytes) continue;
    at = spare[i].at;
    spare[i].bytes = spare[i].at = 0;
  }
  (void)pthread_mutex_unlock(&spare_lock);
  return at;
}

static bool keep_spare(uint64_t at, uint64_t bytes) {
  bool kept = false;
  if (bytes > SPARE_BYTES) return false;
  (void)pthread_mutex_lock(&spare_lock);
  for (int i = 0; i < SPARE && !kept; i++) {
    if (spare[i].bytes != 0) continue;
    spare[i].at = at;
    spare[i].bytes = bytes;
    kept = true;
  }
  (void)pthread_mutex_unlock(&spare_lock);
  return kept;
}

uint64_t memory_map(uint64_t bytes) {
  if (bytes > (UINT64_C(1) << 46)) return 0;
  uint64_t again = take_spare(bytes);
  if (again != 0) return again;
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)at;
}

void memory_unmap(uint64_t at, uint64_t bytes) {
  if (!keep_spare(at, bytes)) (void)munmap((void *)(uintptr_t)at, bytes);
}

/* ---- the table ------------------------------------------------------------------------------------------------------- */

/* The first entry that begins after the address. */
static size_t after(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (table[mid].at <= address) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

static bool insert(const struct memory *m) {
  if (count == room) {
    size_t more = room == 0 ? 256 : 2 * room;
    struct memory *grown = realloc(table, more * sizeof *table);
    if (grown == NULL) return false;
    table = grown;
    room = more;
  }
  size_t i = after(m->at);
  memmove(&table[i + 1], &table[i], (count - i) * sizeof *table);
  table[i] = *m;
  table[i].id = ++next_id;
  count++;
  return true;
}

bool memory_insert(const struct memory *m) {
  (void)pthread_mutex_lock(&lock);
  bool ok = insert(m);
  (void)pthread_mutex_unlock(&lock);
  return ok;
}

bool memory_remove(uint64_t at, struct memory *out) {
  (void)pthread_mutex_lock(&lock);
  size_t i = after(at);
  bool found = i > 0 && table[i - 1].at == at;
  if (found) {
    *out = table[i - 1];
    memmove(&table[i - 1], &table[i], (count - i) * sizeof *table);
    count--;
  }
  (void)pthread_mutex_unlock(&lock);
  return found;
}

bool memory_find(uint64_t address, struct memory *out) {
  (void)pthread_mutex_lock(&lock);
  size_t i = after(address);
  bool found = i > 0 && address - table[i - 1].at < table[i - 1].bytes;
  if (found) *out = table[i - 1];
  (void)pthread_mutex_unlock(&lock);
  return found;
}

void memory_remove_if(bool (*match)(const struct memory *m, const void *what), const void *what) {
  (void)pthread_mutex_lock(&lock);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (match(&table[i], what)) {
      (void)memory_release(&table[i]);
    } else {
      table[kept++] = table[i];
    }
  }
  count = kept;
  (void)pthread_mutex_unlock(&lock);
}

CUresult memory_release(const struct memory *m) {
  if (m->kind == MEMORY_POOL) {
    pool_free(m);
    return CUDA_SUCCESS;
  }
  if (m->mapped > 0) memory_unmap(m->at, m->mapped);
  device_give(m->device, m->charged);
  return CUDA_SUCCESS;
}

/* What a graph allocated and something else frees: the address stays the graph's, for its next launch. */
CUresult memory_free_graph(const struct memory *m) {
  graph_memory_give(m->device, (m->bytes + 511) / 512 * 512);
  return CUDA_SUCCESS;
}

static bool of_context(const struct memory *m, const void *ctx) { return m->ctx == ctx && m->kind != MEMORY_VMM; }

void context_forget_allocations(struct CUctx_st *ctx) { memory_remove_if(of_context, ctx); }

/* ---- device memory --------------------------------------------------------------------------------------------------- */

static CUresult give_out(struct memory m, CUdeviceptr *dptr) {
  m.mapped = (m.bytes + PAGE - 1) / PAGE * PAGE;
  if (m.charged > 0 && !device_take(m.device, m.charged)) return CUDA_ERROR_OUT_OF_MEMORY;
  m.at = memory_map(m.mapped);
  if (m.at != 0 && memory_insert(&m)) {
    *dptr = m.at;
    return CUDA_SUCCESS;
  }
  if (m.at != 0) memory_unmap(m.at, m.mapped);
  device_give(m.device, m.charged);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate(struct CUctx_st *ctx, CUdeviceptr *dptr, size_t size, enum memory_kind kind) {
  if (dptr == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult unsafe = capture_unsafe();
  if (unsafe != CUDA_SUCCESS) return unsafe;
  bool charged = kind == MEMORY_DEVICE;
  if (size > (UINT64_C(1) << 46)) return CUDA_ERROR_OUT_OF_MEMORY;
  return give_out(
      (struct memory){
          .bytes = size, .charged = charged ? device_round(size) : 0, .kind = kind, .device = ctx->device, .ctx = ctx},
      dptr);
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t size) {
  ENTER_CTX;
  return allocate(ctx, dptr, size, MEMORY_DEVICE);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height, unsigned int element) {
  ENTER_CTX;
  if (pitch == NULL || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  size_t row = (width + PITCH - 1) / PITCH * PITCH;
  if (row < width || row > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = allocate(ctx, dptr, row * height, MEMORY_DEVICE);
  if (result == CUDA_SUCCESS) *pitch = row;
  return result;
}

/* Lives where it is touched last, so the card is not charged. */
CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t size, unsigned int flags) {
  ENTER_CTX;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return allocate(ctx, dptr, size, MEMORY_MANAGED);
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  ENTER;
  struct memory m;
  if (dptr == 0) return CUDA_SUCCESS;
  CUresult unsafe = capture_unsafe();
  if (unsafe != CUDA_SUCCESS) return unsafe;
  if (memory_find(dptr, &m) && m.at == dptr && m.kind == MEMORY_GRAPH) return memory_free_graph(&m);
  if (!memory_find(dptr, &m) || m.at != dptr || m.kind == MEMORY_HOST || m.kind == MEMORY_REGISTERED || m.kind == MEMORY_VMM ||
      m.kind == MEMORY_IPC || !memory_remove(dptr, &m)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return memory_release(&m);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr dptr);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr dptr) {
  ENTER_CTX;
  struct memory m;
  (void)ctx;
  if (!memory_find(dptr, &m)) return CUDA_ERROR_NOT_FOUND;
  if (base != NULL) *base = m.at;
  if (size != NULL) *size = m.bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync(CUdeviceptr dptr, size_t size, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync(CUdeviceptr dptr, size_t size, CUdevice device, CUstream stream) {
  ENTER_CTX;
  struct memory m;
  (void)ctx;
  (void)size;
  if (stream_of(stream, false) == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (device != -1 && !valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return memory_find(dptr, &m) && m.kind == MEMORY_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise(CUdeviceptr dptr, size_t size, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise(CUdeviceptr dptr, size_t size, CUmem_advise advice, CUdevice device) {
  ENTER_CTX;
  struct memory m;
  (void)ctx;
  (void)size;
  (void)advice;
  (void)device;
  return memory_find(dptr, &m) && m.kind == MEMORY_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- host memory ----------------------------------------------------------------------------------------------------- */

static CUresult allocate_host(struct CUctx_st *ctx, void **pointer, size_t size) {
  CUdeviceptr at = 0;
  if (pointer == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = allocate(ctx, &at, size, MEMORY_HOST);
  if (result == CUDA_SUCCESS) *pointer = (void *)(uintptr_t)at;
  return result;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t size) {
  ENTER_CTX;
  return allocate_host(ctx, pointer, size);
}

CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned int flags) {
  ENTER_CTX;
  return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate_host(ctx, pointer, size);
}

static CUresult remove_host(void *pointer, enum memory_kind kind, CUresult otherwise) {
  struct memory m;
  if (!memory_find((uintptr_t)pointer, &m) || m.at != (uintptr_t)pointer || m.kind != kind) return otherwise;
  return memory_remove(m.at, &m) ? memory_release(&m) : otherwise;
}

CUresult cuMemFreeHost(void *pointer) {
  ENTER;
  return remove_host(pointer, MEMORY_HOST, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned int flags) {
  ENTER_CTX;
  struct memory m;
  if (pointer == NULL || size == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  if (memory_find((uintptr_t)pointer, &m)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  m = (struct memory){.at = (uintptr_t)pointer, .bytes = size, .kind = MEMORY_REGISTERED, .device = ctx->device, .ctx = ctx};
  return memory_insert(&m) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemHostUnregister(void *pointer) {
  ENTER;
  return remove_host(pointer, MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *dptr, void *pointer, unsigned int flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *dptr, void *pointer, unsigned int flags) {
  ENTER_CTX;
  struct memory m;
  (void)ctx;
  if (dptr == NULL || flags != 0 || !memory_find((uintptr_t)pointer, &m)) return CUDA_ERROR_INVALID_VALUE;
  *dptr = (uintptr_t)pointer;
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer);
CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer) {
  ENTER_CTX;
  struct memory m;
  (void)ctx;
  if (flags == NULL || !memory_find((uintptr_t)pointer, &m)) return CUDA_ERROR_INVALID_VALUE;
  *flags = 2; /* mapped, as all is with unified addresses */
  return CUDA_SUCCESS;
}
