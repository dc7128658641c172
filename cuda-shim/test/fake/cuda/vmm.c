/*
 * Virtual memory: memory without addresses, addresses without memory, and maps between them. Memory lives as long as its
 * handle or a map of it does. Only memory that may be exported has a file behind it, so that thousands of pieces do not
 * use up the process's descriptors; of any other, two maps show different bytes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

enum { GRAIN = 2 << 20, MAGIC_HANDLE = 0x564D4D46 };

struct handle {
  uint32_t magic;
  CUmemAllocationProp prop;
  uint64_t bytes, charged;
  int fd; /* -1: cannot be exported */
  unsigned references, maps;
};

struct map {
  uint64_t at, bytes;
  struct handle *handle;
  struct map *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map *maps;

static struct handle *of(CUmemGenericAllocationHandle h) {
  struct handle *handle = (struct handle *)(uintptr_t)h;
  return handle != NULL && handle->magic == MAGIC_HANDLE && handle->references > 0 ? handle : NULL;
}

/* Under the lock. */
static void let_go(struct handle *h) {
  if (h->references > 0 || h->maps > 0) return;
  if (h->fd >= 0) (void)close(h->fd);
  device_give(h->prop.location.id, h->charged);
  h->magic = MAGIC_GONE;
  free(h);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option);
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option) {
  ENTER;
  if (granularity == NULL || prop == NULL || option < 0 || option > 1) return CUDA_ERROR_INVALID_VALUE;
  *granularity = GRAIN;
  return CUDA_SUCCESS;
}

static CUresult check_prop(const CUmemAllocationProp *prop) {
  if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    return valid_device(prop->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  }
  bool host = prop->location.type == CU_MEM_LOCATION_TYPE_HOST || prop->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
  ENTER;
  if (handle == NULL || size == 0 || size % GRAIN != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = check_prop(prop);
  if (result != CUDA_SUCCESS) return result;
  bool on_device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  struct handle *h = calloc(1, sizeof *h);
  if (h == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  *h = (struct handle){.prop = *prop, .bytes = size, .charged = on_device ? size : 0, .fd = -1, .references = 1};
  if (on_device && !device_take(prop->location.id, size)) {
    free(h);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    h->fd = memfd_create("fake-device-memory", MFD_CLOEXEC);
    if (h->fd < 0 || ftruncate(h->fd, (off_t)size) != 0) {
      h->references = 0;
      let_go(h);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  h->magic = MAGIC_HANDLE;
  *handle = (uintptr_t)h;
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  ENTER;
  (void)pthread_mutex_lock(&lock);
  struct handle *h = of(handle);
  if (h != NULL) {
    h->references--;
    let_go(h);
  }
  (void)pthread_mutex_unlock(&lock);
  return h == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
  ENTER;
  const struct handle *h = of(handle);
  if (prop == NULL || h == NULL) return CUDA_ERROR_INVALID_VALUE;
  *prop = h->prop;
  return CUDA_SUCCESS;
}

/* ---- addresses -------------------------------------------------------------------------------------------------------------- */

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags) {
  ENTER;
  size_t align = alignment < GRAIN ? GRAIN : alignment;
  if (ptr == NULL || size == 0 || size % GRAIN != 0 || flags != 0 || (align & (align - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (size > (UINT64_C(1) << 46)) return CUDA_ERROR_OUT_OF_MEMORY;
  char *at = mmap((void *)(uintptr_t)hint, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  size_t before = (align - (uintptr_t)at % align) % align;
  if (before > 0) (void)munmap(at, before);
  if (align > before) (void)munmap(at + before + size, align - before);
  *ptr = (uintptr_t)(at + before);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  ENTER;
  return ptr != 0 && munmap((void *)(uintptr_t)ptr, size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct map *find(uint64_t address) {
  struct map *m = maps;
  while (m != NULL && address - m->at >= m->bytes) m = m->next;
  return m;
}

/* Puts the memory there. Under the lock. */
static bool put(struct handle *h, uint64_t at, size_t size, size_t offset) {
  int kind = h->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *want = (void *)(uintptr_t)at;
  return mmap(want, size, PROT_READ | PROT_WRITE, kind | MAP_FIXED, h->fd, h->fd >= 0 ? (off_t)offset : 0) == want;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  ENTER;
  CUresult result = CUDA_SUCCESS;
  struct map *m = calloc(1, sizeof *m);
  if (m == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (void)pthread_mutex_lock(&lock);
  struct handle *h = of(handle);
  if (h == NULL || ptr == 0 || size == 0 || flags != 0 || offset > h->bytes || size > h->bytes - offset || find(ptr) != NULL) {
    result = CUDA_ERROR_INVALID_VALUE;
  } else if (!put(h, ptr, size, offset)) {
    result = CUDA_ERROR_MAP_FAILED;
  } else {
    *m = (struct map){.at = ptr, .bytes = size, .handle = h, .next = maps};
    maps = m;
    h->maps++;
  }
  CUdevice device = h != NULL ? h->prop.location.id : 0;
  (void)pthread_mutex_unlock(&lock);
  if (result != CUDA_SUCCESS) {
    free(m);
    return result;
  }
  struct memory entry = {.at = ptr, .bytes = size, .kind = MEMORY_VMM, .device = device};
  return memory_insert(&entry) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* One map, off the list. Under the lock. */
static bool unmap_one(uint64_t at, size_t *bytes) {
  struct memory entry;
  for (struct map **where = &maps; *where != NULL; where = &(*where)->next) {
    struct map *m = *where;
    if (m->at != at) continue;
    *where = m->next;
    *bytes = m->bytes;
    (void)mmap((void *)(uintptr_t)at, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    (void)memory_remove(at, &entry);
    m->handle->maps--;
    let_go(m->handle);
    free(m);
    return true;
  }
  return false;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  ENTER;
  uint64_t at = ptr;
  bool ok = size > 0;
  (void)pthread_mutex_lock(&lock);
  while (ok && at < ptr + size) {
    size_t bytes = 0;
    ok = unmap_one(at, &bytes);
    at += bytes;
  }
  (void)pthread_mutex_unlock(&lock);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
  ENTER;
  (void)pthread_mutex_lock(&lock);
  bool ok = find(ptr) != NULL && size > 0 && desc != NULL && count > 0;
  (void)pthread_mutex_unlock(&lock);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
  ENTER;
  (void)pthread_mutex_lock(&lock);
  bool ok = find(ptr) != NULL && flags != NULL && location != NULL;
  (void)pthread_mutex_unlock(&lock);
  if (ok) *flags = 3;
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- names for others -------------------------------------------------------------------------------------------------------- */

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
  ENTER;
  if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
  (void)pthread_mutex_lock(&lock);
  struct map *m = find((uintptr_t)addr);
  if (m != NULL) {
    m->handle->references++;
    *handle = (uintptr_t)m->handle;
  }
  (void)pthread_mutex_unlock(&lock);
  return m == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  ENTER;
  const struct handle *h = of(handle);
  if (shared == NULL || h == NULL || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || h->fd < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  int fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *(int *)shared = fd;
  return CUDA_SUCCESS;
}

/* Same memory, so nothing is charged: the exporter pays, and takes it along when it ends. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared, CUmemAllocationHandleType type) {
  ENTER;
  struct stat st;
  int fd = (int)(intptr_t)shared;
  if (handle == NULL || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(fd, &st) != 0 || st.st_size <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct handle *h = calloc(1, sizeof *h);
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (h == NULL || copy < 0) {
    free(h);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  struct CUctx_st *ctx = context_current();
  *h = (struct handle){.magic = MAGIC_HANDLE, .bytes = (uint64_t)st.st_size, .fd = copy, .references = 1};
  h->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  h->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  h->prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, ctx == NULL ? 0 : ctx->device};
  *handle = (uintptr_t)h;
  return CUDA_SUCCESS;
}
